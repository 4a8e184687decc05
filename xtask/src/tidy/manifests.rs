//! The metadata of what is published: crates and Python packages. A new crate says what registries show of it, or that
//! it is not published.

use toml::{Table, Value};

use super::Complaint;
use crate::tidy::crates;
use crate::tidy::sources::{Source, Sources};

const WORKSPACE: &str = "Cargo.toml";

/// Both licences, in the root and in each package.
pub(crate) const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// Keys of a crate that are the same for all, so that one line changes them.
const SHARED: [&str; 5] = ["version", "edition", "rust-version", "authors", "repository"];

/// Categories of crates.io that fit a crate of this repository; the registry refuses those that it does not know.
const CATEGORIES: [&str; 11] = [
    "algorithms",
    "api-bindings",
    "data-structures",
    "development-tools::ffi",
    "encoding",
    "external-ffi-bindings",
    "hardware-support",
    "mathematics",
    "no-std",
    "parser-implementations",
    "science",
];

/// The most that crates.io takes of keywords and of categories.
const AT_MOST: usize = 5;

pub(super) fn check(sources: &Sources) -> Vec<Complaint> {
    let Some(workspace) = sources.file(WORKSPACE) else { return Vec::new() };
    let tables = |ending| sources.ending(ending).map(|file| (file, file.text.parse::<Table>()));
    let mut complaints = Vec::new();
    for (file, table) in tables("Cargo.toml").filter(|(file, _)| crates::package(file).is_some()) {
        match table {
            Ok(table) => complaints.extend(of_crate(sources, file, &table)),
            Err(error) => complaints.push(file.complaint(1, error.message())),
        }
    }
    let repository = workspace.text.parse::<Table>().ok();
    let repository = repository.as_ref().and_then(|table| text(table, &["workspace", "package", "repository"]));
    let is_package = |file: &Source| file.folder().strip_prefix("python/").is_some_and(|name| !name.contains('/'));
    for (file, table) in tables("pyproject.toml").filter(|(file, _)| is_package(file)) {
        match table {
            Ok(table) => complaints.extend(of_package(sources, file, &table, repository.unwrap_or_default())),
            Err(error) => complaints.push(file.complaint(1, error.message())),
        }
    }
    complaints.extend(addresses(sources, repository.unwrap_or_default()));
    complaints
}

/// Addresses of this repository that are not below `repository`.
fn addresses(sources: &Sources, repository: &str) -> Vec<Complaint> {
    let Some((host, name)) = repository.strip_prefix("https://").and_then(|rest| {
        let (host, path) = rest.split_once('/')?;
        Some((format!("https://{host}/"), format!("/{}", path.rsplit('/').next()?)))
    }) else {
        return Vec::new();
    };
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-' || next == '_');
    let mut complaints = Vec::new();
    for file in sources.files().iter().filter(|file| file.path != "xtask/src/tidy/manifests.rs") {
        for (number, line) in file.lines() {
            for address in line.split(&host).skip(1) {
                let owner = address.find('/').unwrap_or(address.len());
                let is_ours = address[owner..].strip_prefix(&name).is_some_and(is_end);
                if is_ours && !format!("{host}{address}").starts_with(repository) {
                    complaints.push(file.complaint(number, format!("the repository is {repository}: Cargo.toml")));
                }
            }
        }
    }
    complaints
}

/// The faults of a crate's manifest.
fn of_crate(sources: &Sources, file: &Source, manifest: &Table) -> Vec<Complaint> {
    let package = table(manifest, &["package"]);
    if package.and_then(|package| package.get("publish")) == Some(&Value::Boolean(false)) {
        return Vec::new();
    }
    let name = text(manifest, &["package", "name"]).unwrap_or_default();
    let mut faults = Vec::new();
    let mut need = |fulfilled: bool, line: &str| {
        if !fulfilled {
            faults.push(format!("`{name}` is published, so its manifest needs {line}; or `publish = false`"));
        }
    };
    for key in SHARED {
        let is_shared = package.and_then(|package| package.get(key)?.get("workspace")) == Some(&Value::Boolean(true));
        need(is_shared, &format!("`{key}.workspace = true`"));
    }
    let has = |key: &str| package.is_some_and(|package| package.contains_key(key));
    need(has("license"), "`license.workspace = true`");
    need(has("description"), "`description = \"...\"`, one line on what it does");
    let documentation = format!("https://docs.rs/{name}");
    let documented = text(manifest, &["package", "documentation"]) == Some(&documentation);
    need(documented, &format!("`documentation = \"{documentation}\"`"));
    let readme = text(manifest, &["package", "readme"]) == Some("README.md") && beside(sources, file, "README.md");
    need(readme, "`readme = \"README.md\"`, and this file beside it");
    need(has("include"), "`include = [\"/src\", \"/README.md\", \"/LICENSE-*\"]`, and what else its build reads");
    let keywords = list(manifest, &["package", "keywords"]);
    need((1..=AT_MOST).contains(&keywords.len()) && keywords.iter().all(|word| is_keyword(word)), KEYWORDS);
    let categories = list(manifest, &["package", "categories"]);
    let fits = (1..=AT_MOST).contains(&categories.len()) && categories.iter().all(|slug| CATEGORIES.contains(slug));
    need(fits, &format!("`categories = [...]`, some of {}", CATEGORIES.join(", ")));
    let docs = table(manifest, &["package", "metadata", "docs", "rs"]);
    let targets = docs.is_some_and(|docs| docs.contains_key("all-features") && docs.contains_key("targets"));
    need(targets, "`[package.metadata.docs.rs]` with `all-features` and `targets`");
    for licence in LICENCES {
        let linked = sources.file(&sibling(file, licence)).is_some_and(|file| file.is_link);
        need(linked, &format!("`{licence}` beside it, a symbolic link to that of the root"));
    }
    for key in ["dependencies", "build-dependencies"] {
        for (dependency, value) in table(manifest, &[key]).into_iter().flatten() {
            let by_path_alone = value.get("path").is_some() && value.get("version").is_none();
            need(!by_path_alone, &format!("`{dependency}.workspace = true`: a path alone leads nowhere in a registry"));
        }
    }
    faults.into_iter().map(|fault| file.complaint(1, fault)).collect()
}

const KEYWORDS: &str =
    "`keywords = [...]`: one to five, each of at most 20 letters, digits, `-` or `_` with a letter first";

fn is_keyword(word: &str) -> bool {
    let in_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    word.len() <= 20 && word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.chars().all(in_word)
}

/// The faults of a Python package's pyproject.toml.
fn of_package(sources: &Sources, file: &Source, project: &Table, repository: &str) -> Vec<Complaint> {
    let mut faults = Vec::new();
    let mut need = |fulfilled: bool, line: &str| {
        if !fulfilled {
            faults.push(format!("the package is published, so its [project] needs {line}"));
        }
    };
    for key in ["description", "readme", "requires-python", "authors", "keywords", "classifiers"] {
        need(project.get("project").and_then(|project| project.get(key)).is_some(), &format!("`{key}`"));
    }
    let licence = text(project, &["project", "license"]);
    need(licence == Some("MIT OR Apache-2.0"), "`license = \"MIT OR Apache-2.0\"`, an expression and not a table");
    need(list(project, &["project", "license-files"]) == ["LICENSE-*"], "`license-files = [\"LICENSE-*\"]`");
    for licence in LICENCES {
        // A source distribution keeps a link as it is, and pip refuses one that leads out of it.
        let (copy, original) = (sources.file(&sibling(file, licence)), sources.file(licence));
        let same = copy.zip(original).is_some_and(|(copy, original)| !copy.is_link && copy.text == original.text);
        need(same, &format!("a copy of `{licence}` beside it, with the bytes of the root's"));
    }
    let urls = table(project, &["project", "urls"]);
    for (name, path) in [("Repository", ""), ("Documentation", "/"), ("Changelog", "/"), ("Issues", "/issues")] {
        let url = urls.and_then(|urls| urls.get(name)?.as_str()).unwrap_or_default();
        let begins = format!("{repository}{path}");
        let fits = if path == "/" { url.starts_with(&begins) } else { url == begins };
        need(fits, &format!("`urls.{name}` below the `repository` of Cargo.toml: `{begins}`"));
    }
    faults.into_iter().map(|fault| file.complaint(1, fault)).collect()
}

/// The path of a file in the same folder.
fn sibling(file: &Source, name: &str) -> String {
    format!("{}/{name}", file.folder())
}

fn beside(sources: &Sources, file: &Source, name: &str) -> bool {
    sources.paths().contains(&sibling(file, name))
}

fn value<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key))
}

fn table<'a>(manifest: &'a Table, path: &[&str]) -> Option<&'a Table> {
    value(manifest, path)?.as_table()
}

fn text<'a>(manifest: &'a Table, path: &[&str]) -> Option<&'a str> {
    value(manifest, path)?.as_str()
}

fn list<'a>(manifest: &'a Table, path: &[&str]) -> Vec<&'a str> {
    let values = value(manifest, path).and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: (&str, &str) = (WORKSPACE, "[workspace.package]\nrepository = \"https://a.b/c\"\n");

    const CRATE: &str = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nauthors.workspace = true\nrepository.workspace = true\n\
        license.workspace = true\ndescription = \"A.\"\ndocumentation = \"https://docs.rs/a\"\n\
        readme = \"README.md\"\nkeywords = [\"jax\"]\ncategories = [\"science\"]\ninclude = [\"/src\"]\n\
        [package.metadata.docs.rs]\nall-features = true\ntargets = []\n";

    const PACKAGE: &str = "[project]\ndescription = \"A.\"\nreadme = \"README.md\"\nrequires-python = \">=3.10\"\n\
        authors = []\nkeywords = []\nclassifiers = []\nlicense = \"MIT OR Apache-2.0\"\n\
        license-files = [\"LICENSE-*\"]\n[project.urls]\nRepository = \"https://a.b/c\"\n\
        Documentation = \"https://a.b/c/d\"\nChangelog = \"https://a.b/c/e\"\nIssues = \"https://a.b/c/issues\"\n";

    /// A repository with this manifest of a crate and this one of a Python package, and their files.
    fn messages(krate: &str, package: &str) -> Vec<String> {
        let mut files = vec![ROOT, ("a/Cargo.toml", krate), ("a/README.md", ""), ("python/p/pyproject.toml", package)];
        let licences = ["LICENSE-MIT", "LICENSE-APACHE", "python/p/LICENSE-MIT", "python/p/LICENSE-APACHE"];
        files.extend(licences.map(|path| (path, "the licence")));
        let sources = Sources::of(&files).with_links(&["a/LICENSE-MIT", "a/LICENSE-APACHE"]);
        check(&sources).iter().map(ToString::to_string).collect()
    }

    fn without(text: &str, line: &str) -> String {
        text.lines().filter(|each| *each != line).map(|each| format!("{each}\n")).collect()
    }

    #[test]
    fn complete_manifests_pass() {
        assert_eq!(messages(CRATE, PACKAGE), [""; 0]);
    }

    #[test]
    fn crates_that_are_not_published_need_nothing() {
        assert_eq!(messages("[package]\nname = \"a\"\npublish = false\n", PACKAGE), [""; 0]);
    }

    #[test]
    fn each_line_that_a_crate_lacks_is_named() {
        for line in CRATE.lines().filter(|line| !line.starts_with('[') && !line.starts_with("name")) {
            let found = messages(&without(CRATE, line), PACKAGE);
            let key = line.split([' ', '.']).next().unwrap();
            assert!(matches!(&found[..], [one] if one.contains(key) && one.contains("`a` is published")), "{found:?}");
        }
        let found = messages("[package]\nname = \"a\"\n[dependencies]\nb = { path = \"../b\" }\n", PACKAGE);
        assert!(found.len() > 10, "{found:?}");
        assert!(found.iter().any(|one| one.contains("`b.workspace = true`")), "{found:?}");
    }

    #[test]
    fn words_that_the_registry_refuses_are_reported() {
        for (good, bad) in [("\"jax\"", "\"custom call\""), ("\"jax\"", ""), ("\"science\"", "\"machine-learning\"")] {
            let found = messages(&CRATE.replace(good, bad), PACKAGE);
            assert!(matches!(&found[..], [one] if one.starts_with("a/Cargo.toml:1: `a` is published")), "{found:?}");
        }
    }

    #[test]
    fn each_line_that_a_package_lacks_is_named() {
        for line in PACKAGE.lines().filter(|line| !line.starts_with('[')) {
            let found = messages(CRATE, &without(PACKAGE, line));
            let key = line.split(' ').next().unwrap();
            assert!(matches!(&found[..], [one] if one.contains(key)), "{line}: {found:?}");
        }
    }

    #[test]
    fn addresses_of_the_repository_agree() {
        let page = "https://a.b/d/c/issues\nhttps://a.b/d/other\nhttps://a.b/d/c-sys\n";
        let root = (WORKSPACE, "[workspace.package]\nrepository = \"https://a.b/owner/c\"\n");
        let files = [root, ("a.yml", page), ("b.md", "See https://a.b/owner/c/issues.\n")];
        let found: Vec<_> = check(&Sources::of(&files)).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a.yml:1: the repository is https://a.b/owner/c: Cargo.toml"]);
    }

    #[test]
    fn licences_are_links_in_crates_and_copies_in_packages() {
        let files = [ROOT, ("a/Cargo.toml", CRATE), ("a/README.md", ""), ("a/LICENSE-MIT", ""), ("LICENSE-MIT", "x")];
        let package = [("python/p/pyproject.toml", PACKAGE), ("python/p/LICENSE-MIT", "y"), ("LICENSE-APACHE", "x")];
        let sources = Sources::of(&[&files[..], &package[..]].concat());
        let found: Vec<_> = check(&sources).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().all(|one| one.contains("LICENSE-")), "{found:?}");
    }
}
