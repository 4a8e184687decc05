//! The registry that crates are published to: crates.io, or a folder in its place.

use std::path::PathBuf;

use super::check;
use super::packages::Package;
use crate::shell::{self, Failure, Result};

/// Names the folder that a rehearsal publishes to.
pub(super) const FOLDER: &str = "OXCALL_RELEASE_FOLDER";

/// A place that holds published crates, each version once.
pub(super) trait Registry {
    /// Its name for the person at the terminal.
    fn name(&self) -> String;

    /// Whether it has this version of a crate.
    fn has(&self, package: &Package) -> Result<bool>;

    /// Adds a version of a crate, whose dependencies it has.
    fn publish(&self, package: &Package) -> Result<()>;
}

/// The folder that the environment names, or crates.io.
pub(super) fn chosen() -> Box<dyn Registry> {
    match std::env::var_os(FOLDER) {
        Some(folder) => Box::new(Folder(folder.into())),
        None => Box::new(CratesIo),
    }
}

/// Publishes the packages that are not there yet, in their order.
pub(super) fn publish(registry: &dyn Registry, packages: &[Package]) -> Result<()> {
    for (done, package) in packages.iter().enumerate() {
        if registry.has(package)? {
            println!("{} {} is on {} already", package.name, package.version, registry.name());
            continue;
        }
        registry.publish(package).map_err(|failure| {
            let (name, left) = (&package.name, packages.len() - done);
            Failure::new(format!(
                "{failure}\n`{name}` was not published; {done} crates are there, {left} are left. Correct what the \
                 error says (after `429 Too Many Requests`, wait as long as it says), then run the same command again: \
                 it goes on with `{name}`"
            ))
        })?;
        println!("{} {} is on {} now", package.name, package.version, registry.name());
    }
    Ok(())
}

struct CratesIo;

impl Registry for CratesIo {
    fn name(&self) -> String {
        "crates.io".to_owned()
    }

    fn has(&self, package: &Package) -> Result<bool> {
        let id = format!("{}@{}", package.name, package.version);
        let mut command = shell::cargo();
        match shell::output(command.args(["info", "--quiet", "--registry", "crates-io", &id])) {
            Ok(_) => Ok(true),
            Err(failure) if failure.to_string().contains("could not find") => Ok(false),
            Err(failure) => Err(Failure::new(format!(
                "{failure}\nwhether {id} is published is not known: run the same command again once crates.io answers"
            ))),
        }
    }

    fn publish(&self, package: &Package) -> Result<()> {
        // `release check` has compiled the package.
        shell::run(shell::cargo().args([
            "publish",
            "--no-verify",
            "--registry",
            "crates-io",
            "--package",
            &package.name,
        ]))
    }
}

/// A folder with an unpacked package for each version.
struct Folder(PathBuf);

impl Registry for Folder {
    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn has(&self, package: &Package) -> Result<bool> {
        Ok(self.0.join(package.id()).exists())
    }

    fn publish(&self, package: &Package) -> Result<()> {
        check::unpack(package, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::release::packages;

    /// A registry in memory, which refuses one crate.
    struct Memory {
        names: RefCell<Vec<String>>,
        refused: RefCell<Option<String>>,
    }

    impl Registry for Memory {
        fn name(&self) -> String {
            "memory".to_owned()
        }

        fn has(&self, package: &Package) -> Result<bool> {
            Ok(self.names.borrow().contains(&package.name))
        }

        fn publish(&self, package: &Package) -> Result<()> {
            assert!(!self.has(package)?, "{} was published twice", package.name);
            if self.refused.borrow().as_ref() == Some(&package.name) {
                return Err(Failure::new("429 Too Many Requests"));
            }
            self.names.borrow_mut().push(package.name.clone());
            Ok(())
        }
    }

    #[test]
    fn a_publication_that_stopped_goes_on() {
        let packages = packages::published().unwrap();
        let names: Vec<String> = packages.iter().map(|package| package.name.clone()).collect();
        let registry = Memory { names: RefCell::default(), refused: RefCell::new(Some(names[3].clone())) };
        let message = publish(&registry, &packages).unwrap_err().to_string();
        assert!(message.starts_with("429 Too Many Requests\n"), "{message}");
        assert!(message.contains(&format!("`{}` was not published; 3 crates are there", names[3])), "{message}");
        assert_eq!(registry.names.borrow()[..], names[..3]);
        registry.refused.replace(None);
        publish(&registry, &packages).unwrap();
        assert_eq!(*registry.names.borrow(), names);
    }
}
