//! Programs from the crate registry.

use std::path::PathBuf;

use crate::shell::{self, Result};
use crate::{progress, workspace};

/// A program that cargo can install.
pub(crate) struct Tool {
    /// The name of the crate and of its program.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// The features of the crate, if not the default ones.
    pub(crate) features: &'static [&'static str],
    /// The profile it is compiled in: `dev` where it is used for less time than optimising it takes.
    pub(crate) profile: &'static str,
}

/// The program: the one on PATH if it has this version, or one that is compiled once, into the target directory.
pub(crate) fn installed(tool: &Tool) -> Result<PathBuf> {
    let found = shell::output(shell::command(tool.name).arg("--version")).unwrap_or_default();
    if found.split_whitespace().any(|word| word.trim_start_matches('v') == tool.version) {
        return Ok(tool.name.into());
    }
    let root = workspace::scratch("tools")?;
    let program = root.join("bin").join(tool.name);
    let is_there = program.exists() && shell::output(shell::command(&program).arg("--version"))?.contains(tool.version);
    if !is_there {
        let mut command = shell::cargo();
        command.args(["install", tool.name, "--locked", "--version", tool.version]);
        command.args(["--profile", tool.profile, "--root"]).arg(&root);
        if !tool.features.is_empty() {
            command.args(["--no-default-features", "--features", &tool.features.join(",")]);
        }
        // Its own folder: `CARGO_TARGET_DIR`, where set, is for this workspace.
        let compiling = format!("compiling {}", tool.name);
        progress::command(&compiling, command.arg("--target-dir").arg(root.join("build")))?;
    }
    Ok(program)
}
