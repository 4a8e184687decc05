//! `cargo xtask miri`: the SDK's unsafe code under an interpreter that sees undefined behaviour.

use crate::shell::{self, Failure, Result};

/// Tests that take miri a minute each, and have no unsafe code of their own: tables of arithmetic.
const SKIP: &[&str] = &["conversions_are_those_of_ml_dtypes"];

/// Isolation is off because the tests read clocks.
const FLAGS: &str = "-Zmiri-symbolic-alignment-check -Zmiri-disable-isolation";

/// What runs: flags, and the tests. Everything follows stacked borrows with strict provenance, but for addresses that
/// travel as integers; what asynchronous work and states share follows tree borrows as well.
///
/// Leaks of the unit tests are errors. Those of the others are not looked at: threads that still run when the tests end,
/// and payloads whose drop panics, would count; `ffi/tests/no_alloc.rs` counts what is allocated and freed.
const RUNS: &[(&str, &[&str])] = &[
    ("-Zmiri-strict-provenance", &["--lib", "--"]),
    ("-Zmiri-strict-provenance -Zmiri-ignore-leaks", &["--test", "*", "--", "--skip", "attrs::pointers"]),
    (
        "-Zmiri-tree-borrows -Zmiri-ignore-leaks",
        &["--test", "expressible", "--", "aliases", "asynchronous", "attrs::pointers", "contexts", "states"],
    ),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    if !shell::succeeds("rustup", &["run", "nightly", "cargo", "miri", "--version"]) {
        return Err(Failure::new(
            "miri needs a nightly toolchain with its component:\n  rustup toolchain install nightly --component miri,rust-src",
        ));
    }
    if !args.is_empty() {
        let mut tests = vec!["--lib", "--tests", "--"];
        tests.extend(args.iter().map(String::as_str));
        return miri("", &tests);
    }
    RUNS.iter().try_for_each(|(flags, tests)| miri(flags, tests))
}

fn miri(flags: &str, tests: &[&str]) -> Result<()> {
    // Not `cargo +nightly`: inside `cargo xtask`, `cargo` is the toolchain's own, which knows no `+`.
    let mut command = shell::command("rustup");
    command.args(["run", "nightly", "cargo", "miri", "test", "--package", "oxcall"]).args(tests);
    for skip in SKIP {
        command.args(["--skip", skip]);
    }
    shell::forget_toolchain(&mut command);
    // Backtraces of panics that tests provoke would take longer than the tests.
    shell::run(command.env("MIRIFLAGS", format!("{FLAGS} {flags}")).env("RUST_BACKTRACE", "0"))
}
