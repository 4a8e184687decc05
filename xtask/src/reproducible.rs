//! `cargo xtask reproducible`: two builds of one library in different folders have the same bytes, and no path in them.

use std::path::{Path, PathBuf};

use crate::shell::{self, Context, Failure, Result};
use crate::{commands, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let package = match args {
        [] => "custom_ops",
        [package] => package,
        _ => return Err(commands::usage("reproducible")),
    };
    let folders = [workspace::scratch("reproducible/one")?, workspace::scratch("reproducible/another/place")?];
    let first = build(package, &folders[0])?;
    let second = build(package, &folders[1])?;
    let cargo_home = cargo_home()?;
    for path in [folders[0].as_path(), workspace::root(), &cargo_home] {
        let path = path.to_string_lossy();
        if first.windows(path.len()).any(|window| window == path.as_bytes()) {
            return Err(Failure::new(format!("the library of `{package}` has the path {path} in it")));
        }
    }
    if let Some(at) = (0..first.len().max(second.len())).find(|&at| first.get(at) != second.get(at)) {
        return Err(Failure::new(format!("two builds of `{package}` differ from byte {at} on")));
    }
    println!(
        "two builds of `{package}` in different folders: the same {} bytes, without a path of either",
        first.len()
    );
    Ok(())
}

/// Builds a package from a copy of the workspace, and reads its library.
fn build(package: &str, folder: &Path) -> Result<Vec<u8>> {
    let copy = folder.join("workspace");
    copy_workspace(&copy)?;
    let target = folder.join("target");
    let mut command = shell::cargo();
    command.current_dir(&copy).args(["build", "--release", "--locked", "--package", package]);
    command.arg("--target-dir").arg(&target);
    command.arg("--config").arg(format!("build.rustflags=[{}]", remapping(&copy)?));
    shell::run(command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS"))?;
    let library = library(&target.join("release"))?;
    std::fs::read(&library).context(library.display())
}

/// The shared library that a build left; its name need not be that of the package.
fn library(folder: &Path) -> Result<PathBuf> {
    let mut paths = std::fs::read_dir(folder).context(folder.display())?.flatten().map(|entry| entry.path());
    let found = paths.find(|path| path.extension().is_some_and(|kind| kind == std::env::consts::DLL_EXTENSION));
    found.ok_or_else(|| Failure::new(format!("no shared library in {}: the package has none", folder.display())))
}

/// What keeps the paths of a machine out of a library, as `python/oxcall-plugin/build_library.py` does for wheels.
fn remapping(root: &Path) -> Result<String> {
    let flag = |from: &Path, to: &str| format!("{:?}", format!("--remap-path-prefix={}={to}", from.display()));
    Ok([flag(root, "/oxcall"), flag(&cargo_home()?, "/cargo")].join(", "))
}

/// Where cargo keeps the sources of dependencies.
fn cargo_home() -> Result<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).ok_or_else(|| Failure::new("HOME is not set"))
}

/// Copies the files that git knows or would take.
fn copy_workspace(to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to).context(to.display())?;
    }
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let files = shell::output(shell::command("git").args(listing))?;
    for file in files.split_terminator('\0') {
        let (from, to) = (workspace::root().join(file), to.join(file));
        if !from.is_file() {
            continue;
        }
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).context(parent.display())?;
        }
        std::fs::copy(&from, &to).context(from.display())?;
    }
    Ok(())
}
