//! `cargo xtask release check`: the packages of all published crates, compiled from the files that users would get.

use std::collections::BTreeSet;
use std::path::Path;

use super::packages::{self, Package};
use crate::shell::{self, Context, Failure, Result};
use crate::tidy::LICENCES;
use crate::workspace;

/// The largest package that crates.io takes.
const AT_MOST: u64 = 10 << 20;

/// What each package has at its top, beside what its build reads.
const FILES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "README.md", "src"];

/// Packages all published crates, unpacks them beside each other, lists them, and compiles them as they are.
pub(crate) fn check() -> Result<()> {
    let packages = packages::published()?;
    let mut command = shell::cargo();
    // Cargo's own verification would build each of them in a folder of its own, with all of its dependencies.
    command.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    shell::run(command.args(packages.iter().flat_map(|package| ["--package", &package.name])))?;
    let folder = workspace::scratch("release/packages")?;
    std::fs::remove_dir_all(&folder).context(folder.display())?;
    for package in &packages {
        unpack(package, &folder)?;
        inspect(package, &folder.join(package.id()))?;
    }
    compile(&packages, &folder)
}

/// Unpacks a package into a folder of its name and version.
pub(super) fn unpack(package: &Package, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).context(folder.display())?;
    shell::output(shell::command("tar").arg("xzf").arg(package.archive()).arg("-C").arg(folder)).map(drop)
}

/// Prints the size of a package, and checks what it has at its top.
fn inspect(package: &Package, folder: &Path) -> Result<()> {
    let archive = package.archive();
    let size = std::fs::metadata(&archive).context(archive.display())?.len();
    let entries = std::fs::read_dir(folder).context(folder.display())?.flatten();
    let names: BTreeSet<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    println!("{} {}: {} kB, {}", package.name, package.version, size.div_ceil(1000), shown(&names));
    match fault(&names, size) {
        Some(fault) => Err(Failure::new(format!("the package of {} {fault}", package.name))),
        None => Ok(()),
    }
}

/// What is wrong with a package of these files and this size.
fn fault(names: &BTreeSet<String>, size: u64) -> Option<String> {
    let missing: Vec<&str> = FILES.into_iter().chain(LICENCES).filter(|name| !names.contains(*name)).collect();
    if !missing.is_empty() {
        return Some(format!("lacks {}: add them to `include` in its Cargo.toml", missing.join(", ")));
    }
    let mend = "take what its build does not read out of `include` in its Cargo.toml";
    (size > AT_MOST).then(|| format!("has {size} bytes, and the most is {AT_MOST}: {mend}"))
}

/// The names that are not in every package, in a line.
fn shown(names: &BTreeSet<String>) -> String {
    let own = names.iter().filter(|name| !name.starts_with(['.']) && !name.starts_with("Cargo."));
    own.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Compiles the packages as one workspace, with the dependencies that Cargo.lock names, which are compiled already.
fn compile(packages: &[Package], folder: &Path) -> Result<()> {
    workspace::write(&folder.join("Cargo.toml"), &manifest(packages))?;
    let lock = workspace::root().join("Cargo.lock");
    std::fs::copy(&lock, folder.join("Cargo.lock")).context(lock.display())?;
    let mut command = shell::cargo();
    command.args(["check", "--workspace", "--all-features", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    shell::run(command.arg("--target-dir").arg(workspace::target())).map_err(|failure| {
        let hint = "the packages do not compile; if a file is missing, add it to `include` in the crate's Cargo.toml";
        Failure::new(format!("{failure}\n{hint}"))
    })
}

/// A workspace of unpacked packages, which depend on each other instead of on those in the registry.
fn manifest(packages: &[Package]) -> String {
    let list = |line: &dyn Fn(&Package) -> String| packages.iter().map(line).collect::<Vec<_>>().join("\n");
    let members = list(&|package| format!("    \"{}\",", package.id()));
    format!("[workspace]\nresolver = \"3\"\nmembers = [\n{members}\n]\n\n{}", patches(packages, Path::new("")))
}

/// The table by which cargo takes the packages in a folder instead of those in the registry.
pub(super) fn patches(packages: &[Package], folder: &Path) -> String {
    let line = |package: &Package| {
        format!("{} = {{ path = {:?} }}\n", package.name, folder.join(package.id()).to_string_lossy())
    };
    format!("[patch.crates-io]\n{}", packages.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(without: &str) -> BTreeSet<String> {
        let names = FILES.into_iter().chain(LICENCES).filter(|name| *name != without);
        names.chain(["NOTICE", ".cargo_vcs_info.json"]).map(str::to_owned).collect()
    }

    #[test]
    fn packages_with_every_file_pass() {
        assert_eq!(fault(&names(""), AT_MOST), None);
        assert_eq!(shown(&names("")), "LICENSE-APACHE LICENSE-MIT NOTICE README.md src");
    }

    #[test]
    fn a_missing_file_and_a_large_package_are_faults() {
        let message = "lacks LICENSE-MIT: add them to `include` in its Cargo.toml";
        assert_eq!(fault(&names("LICENSE-MIT"), 1).as_deref(), Some(message));
        assert!(fault(&names(""), AT_MOST + 1).unwrap().starts_with("has 10485761 bytes, and the most is 10485760"));
    }

    #[test]
    fn packages_are_a_workspace_that_depends_on_itself() {
        let packages = packages::published().unwrap();
        let manifest = manifest(&packages);
        let (members, patches) = manifest.split_once("[patch.crates-io]").unwrap();
        for package in &packages {
            assert!(members.contains(&format!("    \"{}\",\n", package.id())), "{manifest}");
            let patch = format!("\n{} = {{ path = \"{}\" }}\n", package.name, package.id());
            assert!(patches.contains(&patch), "{manifest}");
        }
    }
}
