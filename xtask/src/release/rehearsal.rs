//! `cargo xtask release VERSION --rehearse`: a release of the current commit in a clone of the repository, with a
//! folder in the place of crates.io, and a project that uses what it made. Nothing of the repository changes.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::version::Version;
use super::{check, packages, registry, steps};
use crate::shell::{self, Context, Failure, Result};
use crate::{progress, python, smoke, workspace};

pub(super) fn rehearse(version: Version) -> Result<()> {
    let folder = workspace::scratch("release/rehearsal")?;
    std::fs::remove_dir_all(&folder).and_then(|()| std::fs::create_dir(&folder)).context(folder.display())?;
    let (clone, crates) = (folder.join("clone"), folder.join("crates"));
    shell::run(shell::command("git").args(["clone", "--quiet"]).arg(workspace::root()).arg(&clone))?;
    // Twice: the second finds everything done.
    for _ in 0..2 {
        shell::run(offline(&mut of_clone(&clone, version), &crates))?;
    }
    let files = python_packages(version)?;
    use_crates(version, &folder, &crates, &files)?;
    smoke::use_wheels(&python::default_venv()?, &files)?;
    show(version, &crates);
    Ok(())
}

/// The command of a release, run by the clone's own task runner.
fn of_clone(clone: &Path, version: Version) -> Command {
    let mut command = shell::cargo();
    command.args(["xtask", "release", &version.to_string()]).current_dir(clone);
    // Its own crates are compiled anew, what they depend on is not.
    command.env("CARGO_TARGET_DIR", workspace::target());
    for (role, name) in [("AUTHOR", "author"), ("COMMITTER", "committer")] {
        command.env(format!("GIT_{role}_NAME"), name).env(format!("GIT_{role}_EMAIL"), format!("{name}@example.org"));
    }
    command
}

fn offline<'a>(command: &'a mut Command, crates: &Path) -> &'a mut Command {
    command.env("CARGO_NET_OFFLINE", "true").env(registry::FOLDER, crates)
}

fn python_packages(version: Version) -> Result<Vec<PathBuf>> {
    let folder = steps::folder(version);
    let entries = std::fs::read_dir(&folder).context(folder.display())?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| path.extension().is_some_and(|kind| kind == "whl")).collect())
}

/// Makes a project with the command of the new wheel, and tests it with the new crates.
fn use_crates(version: Version, folder: &Path, crates: &Path, wheels: &[PathBuf]) -> Result<()> {
    let venv = python::release_venv()?;
    let installed = folder.join("installed");
    let mut install = venv.python();
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]).arg(&installed);
    shell::run(install.args(wheels))?;
    let mut new = venv.python();
    new.args(["-m", "oxcall", "new", "my_ops"]).env("PYTHONPATH", &installed);
    shell::run(new.current_dir(folder))?;
    let project = folder.join("my_ops");
    let manifest = workspace::read(&project.join("Cargo.toml"))?;
    let requirement = format!("oxcall = \"{}\"", version.series());
    if !manifest.contains(&requirement) {
        return Err(Failure::new(format!("`oxcall new` of the new wheel does not write `{requirement}`:\n{manifest}")));
    }
    // A workspace of its own: the folder lies in that of this repository.
    workspace::write(&project.join("Cargo.toml"), &format!("{manifest}\n[workspace]\n"))?;
    let packages: Vec<_> = packages::published()?.into_iter().map(|package| package.at(version)).collect();
    workspace::write(&project.join(".cargo/config.toml"), &check::patches(&packages, crates))?;
    let mut test = shell::cargo();
    test.arg("test").current_dir(&project).env("CARGO_TARGET_DIR", folder.join("target"));
    progress::command("testing a new project with the new crates", offline(&mut test, crates))
}

/// What a release would do that a rehearsal does not.
fn show(version: Version, crates: &Path) {
    println!("\nthe rehearsal of {version} is done; the crates are in {}", crates.display());
    println!("a release makes the same commit and tag in this repository, and publishes to crates.io, in this order:");
    for package in packages::published().unwrap_or_default() {
        println!("  cargo publish --no-verify --package {}", package.name);
    }
    println!("release.yml uploads the files in {} to PyPI", steps::folder(version).display());
}
