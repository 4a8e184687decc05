//! The Python packages of a release: wheels for glibc 2.17 and later, and a source distribution of what is Python
//! alone.

use std::path::{Path, PathBuf};

use super::version::Version;
use crate::shell::{Context, Failure, Result};
use crate::{progress, python, workspace};

/// Each package, and what is built of it. The plugin needs the Rust workspace around it, so it has no source
/// distribution.
const PACKAGES: [(&str, &[&str]); 2] = [("oxcall", &["wheel", "sdist"]), ("oxcall-plugin", &["wheel"])];

/// The tag of a library for distributions of 2014 and later.
const PORTABLE: &str = "manylinux_2_17";

/// Builds the packages into a folder, and gives the files.
pub(super) fn build(version: Version, folder: &Path) -> Result<Vec<PathBuf>> {
    let venv = python::release_venv()?;
    if folder.exists() {
        std::fs::remove_dir_all(folder).context(folder.display())?;
    }
    for (package, kinds) in PACKAGES {
        let mut command = venv.python();
        command.args(["-m", "hatchling", "build", "--directory"]).arg(folder);
        command.args(kinds.iter().flat_map(|kind| ["--target", kind]));
        command.current_dir(workspace::root().join("python").join(package)).env("OXCALL_PORTABLE", "1");
        progress::command(&format!("building {} of {package}", kinds.join(" and ")), &mut command)?;
    }
    let entries = std::fs::read_dir(folder).context(folder.display())?.flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let names: Vec<String> =
        files.iter().map(|file| file.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    match fault(&names, version) {
        Some(fault) => Err(Failure::new(format!("{}: {fault}", folder.display()))),
        None => Ok(files),
    }
}

/// What is wrong with the files of a release, by their names.
fn fault(names: &[String], version: Version) -> Option<String> {
    let plugin = format!("oxcall_plugin-{version}-py3-none-{PORTABLE}_");
    let wanted = [format!("oxcall-{version}-py3-none-any.whl"), format!("oxcall-{version}.tar.gz"), plugin];
    let missing = wanted.iter().find(|start| names.iter().all(|name| !name.starts_with(*start)))?;
    Some(format!("no file `{missing}...` among {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_for_new_distributions_alone_is_a_fault() {
        let version: Version = "0.2.0".parse().unwrap();
        let files = |plugin: &str| ["oxcall-0.2.0-py3-none-any.whl", "oxcall-0.2.0.tar.gz", plugin].map(str::to_owned);
        assert_eq!(fault(&files("oxcall_plugin-0.2.0-py3-none-manylinux_2_17_x86_64.whl"), version), None);
        let fault = fault(&files("oxcall_plugin-0.2.0-py3-none-manylinux_2_34_x86_64.whl"), version).unwrap();
        assert!(fault.starts_with("no file `oxcall_plugin-0.2.0-py3-none-manylinux_2_17_...` among "), "{fault}");
    }
}
