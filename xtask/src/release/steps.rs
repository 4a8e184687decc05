//! A release from a clean tree to published crates and built wheels. Each step that is done already is left out, so
//! that a release that stopped goes on.

use std::path::{Path, PathBuf};

use super::version::Version;
use super::{changelog, check, git, packages, places, registry, semver, wheels};
use crate::shell::{self, Failure, Result};
use crate::tidy::sources::Sources;
use crate::workspace;

/// How far a release goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// To the tag, from which the workflow goes on.
    Tagged,
    /// To the end.
    Published,
}

/// Phrases of documents from before the first release.
const UNPUBLISHED: [&str; 3] = ["is not published", "published yet", "Python packages are published"];

/// The account in the repository's address until there is one.
const PLACEHOLDER: &str = "/OWNER/";

pub(super) fn release(version: Version, until: Until) -> Result<()> {
    git::need_clean_tree()?;
    let obstacles = obstacles(&Sources::read()?);
    if !obstacles.is_empty() && std::env::var_os(registry::FOLDER).is_none() {
        let hint = "correct and commit these; `--rehearse` goes on without it";
        return Err(Failure::new(format!("{}\n{hint}", obstacles.join("\n"))));
    }
    tag(version)?;
    if until == Until::Tagged {
        let branch = git::branch().unwrap_or_else(|| "HEAD:main".to_owned());
        println!("\nnext: `git push origin {branch} {}`: the workflow release.yml publishes", version.tag());
        return Ok(());
    }
    semver::check()?;
    check()?;
    registry::publish(registry::chosen().as_ref(), &packages::published()?)?;
    let folder = folder(workspace::target(), version);
    let files = wheels::build(version, &folder)?;
    println!("\n{version} is published as crates; the Python packages are in {}:", folder.display());
    for file in files {
        println!("  {}", file.file_name().unwrap_or_default().to_string_lossy());
    }
    println!("next: upload them (release.yml does, or `twine upload --skip-existing`), and push {}", version.tag());
    Ok(())
}

/// Where the Python packages of a release are built, below cargo's target directory.
pub(super) fn folder(target: &Path, version: Version) -> PathBuf {
    target.join("xtask/release/dist").join(version.to_string())
}

/// Makes the commit and the tag of a release, unless they are there.
fn tag(version: Version) -> Result<()> {
    let (tag, head) = (version.tag(), git::commit_of("HEAD"));
    match git::commit_of(&tag) {
        Some(commit) if Some(&commit) == head.as_ref() => {
            println!("{tag} is the current commit: the release goes on from there");
            return Ok(());
        }
        Some(commit) => {
            return Err(Failure::new(format!(
                "{tag} is the commit {commit}, not the current one: to go on with this release, `git checkout {tag}`; \
                 for another one, take the next version"
            )));
        }
        None => {}
    }
    let notes = notes(&prepared(version)?, version)?;
    git::tag(&tag, &format!("oxcall {version}\n\n{notes}\n"))?;
    println!("{tag} is the commit {}", git::commit_of("HEAD").unwrap_or_default());
    Ok(())
}

/// The change log with the section of the release, which is committed with the version unless it is already.
fn prepared(version: Version) -> Result<String> {
    let path = workspace::root().join(changelog::FILE);
    let text = workspace::read(&path)?;
    let current = Version::current()?;
    if current == version && changelog::section(&text, version).is_some() {
        return Ok(text);
    }
    if current > version {
        return Err(Failure::new(format!("the version is {current} already: take a later one than {version}")));
    }
    let date = shell::output(shell::command("date").args(["-u", "+%F"]))?;
    let released = changelog::released(&text, version, date.trim())?;
    let sources = Sources::read()?;
    for (path, text) in places::changed(&sources, current, version) {
        println!("{path}: {current} -> {version}");
        workspace::write(&workspace::root().join(path), &text)?;
    }
    workspace::write(&path, &released)?;
    // Cargo.lock has the versions of the workspace's crates, and nothing else of it changes.
    shell::run(shell::cargo().args(["update", "--workspace", "--quiet"]))?;
    if let Some(complaint) = places::check(&Sources::read()?).first() {
        return Err(Failure::new(format!(
            "{complaint}\nadd the place to xtask/src/release/places.rs, `git restore .`"
        )));
    }
    git::commit(&format!("Release {version}"))?;
    Ok(released)
}

fn notes(log: &str, version: Version) -> Result<String> {
    let missing = || Failure::new(format!("{} has no section of {version}", changelog::FILE));
    changelog::section(log, version).map(str::to_owned).ok_or_else(missing)
}

/// What must not be published: a placeholder, and documents that become false.
fn obstacles(sources: &Sources) -> Vec<String> {
    let mut obstacles = Vec::new();
    if sources.file("Cargo.toml").is_some_and(|file| file.text.contains(PLACEHOLDER)) {
        obstacles.push(format!(
            "Cargo.toml: `{PLACEHOLDER}` in `repository` is a placeholder: run `cargo xtask release \
             repository https://HOST/ACCOUNT/NAME`"
        ));
    }
    for file in sources.markdown().filter(|file| !file.path.starts_with("docs/decisions/")) {
        for (number, line) in file.lines() {
            if UNPUBLISHED.iter().any(|phrase| line.contains(phrase)) {
                obstacles.push(format!("{}:{number}: says that oxcall is not published", file.path));
            }
        }
    }
    obstacles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_documents_hold_a_release_up() {
        let files =
            [("Cargo.toml", "repository = \"https://a.b/OWNER/c\"\n"), ("a.md", "One.\noxcall is not published.\n")];
        let obstacles = obstacles(&Sources::of(&files));
        assert!(obstacles[0].starts_with("Cargo.toml: `/OWNER/`"), "{obstacles:?}");
        assert_eq!(obstacles[1..], ["a.md:2: says that oxcall is not published"]);
        let files = [("Cargo.toml", "repository = \"https://a.b/us/c\"\n"), ("a.md", "`pip install oxcall`\n")];
        assert_eq!(super::obstacles(&Sources::of(&files)), [""; 0]);
    }
}
