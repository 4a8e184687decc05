//! Places in the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::shell::{self, Context, Result};

/// Root of the workspace: the parent of this crate.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Cargo's target directory, which `CARGO_TARGET_DIR` or a user's configuration may have moved.
pub(crate) fn target() -> &'static Path {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    TARGET.get_or_init(|| {
        // This program lies in `<target>/<profile>/xtask`.
        let beside = std::env::current_exe().ok().and_then(|exe| exe.parent()?.parent().map(Path::to_path_buf));
        beside.unwrap_or_else(|| root().join("target"))
    })
}

/// Folder for what the task runner itself makes: virtual environments, headers, logs.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let path = target().join("xtask").join(name);
    std::fs::create_dir_all(&path).context(path.display())?;
    Ok(path)
}

/// The same, without what an earlier run left there.
pub(crate) fn empty_scratch(name: &str) -> Result<PathBuf> {
    let path = scratch(name)?;
    std::fs::remove_dir_all(&path).and_then(|()| std::fs::create_dir(&path)).context(path.display())?;
    Ok(path)
}

/// The shared library that a cdylib crate of this workspace builds in release mode.
pub(crate) fn release_library(lib: &str) -> PathBuf {
    target().join("release").join(library_file(lib))
}

/// The shared library that a cdylib crate of this workspace builds for tests.
pub(crate) fn dev_library(lib: &str) -> PathBuf {
    target().join("debug").join(library_file(lib))
}

fn library_file(lib: &str) -> String {
    format!("{}{lib}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

/// Builds `package` in release mode and gives the path of its shared library.
pub(crate) fn build_library(package: &str) -> Result<PathBuf> {
    shell::run(&mut release_build(&[package]))?;
    Ok(release_library(&package.replace('-', "_")))
}

/// The package of the bundled PJRT plugin.
pub(crate) const PLUGIN: &str = "oxcall-plugin-bundled";

/// The name of its library.
const PLUGIN_LIBRARY: &str = "oxcall_plugin";

/// Builds the bundled PJRT plugin in release mode and gives the path of its shared library.
pub(crate) fn build_plugin() -> Result<PathBuf> {
    shell::run(&mut plugin_build())?;
    Ok(plugin_library())
}

/// Builds the bundled PJRT plugin without code for AVX-512, in a folder of its own, and gives the path of its shared
/// library: it runs everywhere as on a processor that has AVX2 alone.
pub(crate) fn build_plugin_for_avx2() -> Result<PathBuf> {
    let folder = target().join("avx2");
    let mut command = plugin_build();
    command.arg("--target-dir").arg(&folder);
    shell::run(shell::add_flags(&mut command, "RUSTFLAGS", "--cfg oxcall_max_isa=\"avx2\""))?;
    Ok(folder.join("release").join(library_file(PLUGIN_LIBRARY)))
}

/// The command that builds the bundled PJRT plugin in release mode.
pub(crate) fn plugin_build() -> Command {
    release_build(&[PLUGIN])
}

/// The command that builds packages in release mode.
pub(crate) fn release_build(packages: &[&str]) -> Command {
    let mut command = shell::cargo();
    command.args(["build", "--release"]);
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    command
}

/// The shared library of the bundled PJRT plugin.
pub(crate) fn plugin_library() -> PathBuf {
    release_library(PLUGIN_LIBRARY)
}

/// Reads a file of the workspace.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).context(path.display())
}

/// Writes a file, making its folder.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).context(parent.display())?;
    }
    std::fs::write(path, text).context(path.display())
}
