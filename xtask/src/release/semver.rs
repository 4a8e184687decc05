//! `cargo xtask release semver`: public interfaces beside those of the last release, by cargo-semver-checks.

use super::git;
use crate::shell::{self, Result};

/// The crates whose interfaces others may rely on: docs/stability.md.
const PROMISED: [&str; 3] = ["oxcall", "oxcall-pjrt", "oxcall-plugin"];

/// Compares the interfaces with those of the newest tag. Where this cannot be done, it says what it needs.
pub(super) fn check() -> Result<()> {
    let Some(tag) = git::last_release()? else {
        println!("semver: not compared: there is no release yet, that is no tag `v*` before this commit");
        return Ok(());
    };
    if !shell::succeeds("cargo-semver-checks", &["semver-checks", "--version"]) {
        println!(
            "semver: not compared with {tag}: `cargo install cargo-semver-checks --locked`, then run \
             `cargo xtask release semver`"
        );
        return Ok(());
    }
    let mut command = shell::cargo();
    command.args(["semver-checks", "--baseline-rev", &tag]);
    shell::run(command.args(PROMISED.iter().flat_map(|name| ["--package", name])))
}
