//! Compile-fail snapshots of the macros: every mistake with the message that it gets.
//!
//! `TRYBUILD=overwrite cargo test -p oxcall-ui-tests` rewrites the snapshots.

use std::process::Command;

/// The compiler whose rendering of messages the snapshots hold.
const PINNED: &str = "1.95";

/// Whether the compiler is the pinned one. Another one words and arrows its own errors differently.
fn pinned() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("rustc --version runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let is = version.strip_prefix("rustc ").is_some_and(|rest| rest.starts_with(&format!("{PINNED}.")));
    if !is {
        eprintln!("skipped: the snapshots are those of rustc {PINNED}, and this is {}", version.trim());
    }
    is
}

#[test]
fn ui() {
    if !pinned() {
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("fail/*.rs");
}
