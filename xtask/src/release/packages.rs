//! The crates that are published, in an order in which each follows those that it depends on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::version::Version;
use crate::shell::{self, Context, Failure, Result};
use crate::workspace;

/// A crate that is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: Version,
    /// The published crates of this workspace that it depends on; those of its tests are not in its package.
    dependencies: Vec<String>,
}

impl Package {
    /// Its name and version, as in the names of files.
    pub(super) fn id(&self) -> String {
        format!("{}-{}", self.name, self.version)
    }

    /// The same crate in another version.
    pub(super) fn at(self, version: Version) -> Self {
        Self { version, ..self }
    }

    /// The file that `cargo package` makes.
    pub(super) fn archive(&self) -> PathBuf {
        workspace::target().join("package").join(format!("{}.crate", self.id()))
    }
}

/// The crates of this workspace that are published, in order.
pub(super) fn published() -> Result<Vec<Package>> {
    let metadata = shell::output(shell::cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    ordered(read(&metadata)?)
}

/// The published packages in what `cargo metadata` prints.
fn read(metadata: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(metadata).context("output of `cargo metadata`")?;
    let list = |value: &'_ Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    // `publish = false` is an empty list of registries.
    let members = list(&metadata, "packages").into_iter().filter(|package| package["publish"].is_null());
    let members: Vec<Value> = members.collect();
    let names: Vec<String> = members.iter().map(|package| text(package, "name")).collect();
    let read_one = |package: &Value| {
        let dependencies = list(package, "dependencies").into_iter().filter(|each| each["kind"] != "dev");
        let mut dependencies: Vec<String> = dependencies.map(|each| text(&each, "name")).collect();
        dependencies.retain(|name| names.contains(name));
        dependencies.dedup();
        Ok(Package { name: text(package, "name"), version: text(package, "version").parse()?, dependencies })
    };
    members.iter().map(read_one).collect()
}

/// The packages, each after its dependencies, and otherwise by name.
fn ordered(packages: Vec<Package>) -> Result<Vec<Package>> {
    let mut waiting: BTreeMap<String, Package> =
        packages.into_iter().map(|package| (package.name.clone(), package)).collect();
    let mut ordered: Vec<Package> = Vec::new();
    while !waiting.is_empty() {
        let is_ready =
            |package: &&Package| package.dependencies.iter().all(|dependency| !waiting.contains_key(dependency));
        let Some(name) = waiting.values().find(is_ready).map(|package| package.name.clone()) else {
            let names: Vec<&str> = waiting.keys().map(String::as_str).collect();
            let circle = "depend on each other in a circle: no order of publication exists";
            return Err(Failure::new(format!("the crates {} {circle}", names.join(", "))));
        };
        ordered.extend(waiting.remove(&name));
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(ToString::to_string).collect();
        Package { name: name.to_owned(), version: "0.1.0".parse().unwrap(), dependencies }
    }

    fn names(packages: &[Package]) -> Vec<&str> {
        packages.iter().map(|package| package.name.as_str()).collect()
    }

    #[test]
    fn packages_follow_their_dependencies() {
        let packages = vec![package("a", &["c"]), package("b", &[]), package("c", &["b"]), package("d", &["a", "c"])];
        assert_eq!(names(&ordered(packages).unwrap()), ["b", "c", "a", "d"]);
    }

    #[test]
    fn a_circle_is_an_error_that_names_it() {
        let packages = vec![package("a", &["b"]), package("b", &["a"]), package("c", &[])];
        let message = ordered(packages).unwrap_err().to_string();
        assert!(message.starts_with("the crates a, b depend on each other"), "{message}");
    }

    #[test]
    fn metadata_is_read_without_dependencies_of_tests() {
        let metadata = r#"{"packages": [
            {"name": "a", "version": "0.1.0", "publish": null, "dependencies": [
                {"name": "b", "kind": null}, {"name": "c", "kind": "dev"}, {"name": "libc", "kind": null}]},
            {"name": "b", "version": "0.1.0", "publish": null, "dependencies": [{"name": "c", "kind": "build"}]},
            {"name": "c", "version": "0.1.0", "publish": null, "dependencies": []},
            {"name": "tests", "version": "0.0.0", "publish": [], "dependencies": [{"name": "a", "kind": null}]}]}"#;
        let packages = read(metadata).unwrap();
        assert_eq!(packages, [package("a", &["b"]), package("b", &["c"]), package("c", &[])]);
    }

    #[test]
    fn this_workspace_has_an_order() {
        let packages = published().unwrap();
        let position = |name: &str| packages.iter().position(|package| package.name == name).unwrap();
        assert!(position("oxcall-macros") < position("oxcall") && position("oxcall") < position("oxcall-plugin"));
    }
}
