//! `cargo xtask fuzz`: damaged calls under libFuzzer and AddressSanitizer.

use std::path::Path;

use crate::shell::{self, Context, Failure, Result};
use crate::workspace;

/// What `cargo fuzz` gives to rustc, for one program alone.
const FLAGS: &str = "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

const TARGET: &str = "x86_64-unknown-linux-gnu";
const DEFAULT_SECONDS: u32 = 300;

/// Longest input in bytes: plans are short, and longer ones only slow the search down.
const MAX_LEN: u32 = 400;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let keep = args.iter().any(|arg| arg == "keep");
    let seconds = args.iter().find(|arg| *arg != "keep").map_or(Ok(DEFAULT_SECONDS), |arg| arg.parse());
    let seconds = seconds.context("the number of seconds")?;
    let program = build()?;
    let found = workspace::scratch("fuzz/corpus")?;
    let crashes = workspace::scratch("fuzz/crashes")?;
    let corpus = workspace::root().join("tests/fuzz/corpus");
    let mut fuzz = fuzzer(&program);
    // Handlers' own words on stderr are thrown away; reports are not.
    fuzz.args(["-close_fd_mask=3", "-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    fuzz.arg(format!("-max_len={MAX_LEN}")).arg(format!("-max_total_time={seconds}"));
    fuzz.arg(format!("-artifact_prefix={}/", crashes.display()));
    shell::run(fuzz.arg(&found).arg(&corpus))?;
    if keep {
        let mut merge = fuzzer(&program);
        merge.args(["-close_fd_mask=3", "-set_cover_merge=1"]);
        shell::run(merge.arg(&corpus).arg(&found))?;
    }
    Ok(())
}

/// Builds the fuzzer with the nightly toolchain, beside what the others build.
fn build() -> Result<std::path::PathBuf> {
    if !shell::succeeds("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Err(Failure::new("fuzzing needs a nightly toolchain:\n  rustup toolchain install nightly"));
    }
    let folder = workspace::target().join("fuzz");
    let mut command = shell::command("rustup");
    command.args(["run", "nightly", "cargo", "build", "--release", "--target", TARGET, "--package", "oxcall-fuzz"]);
    command.args(["--features", "libfuzzer", "--bin", "fuzz", "--target-dir"]).arg(&folder);
    command.env("RUSTFLAGS", FLAGS);
    for (name, value) in [("LTO", "false"), ("STRIP", "none"), ("DEBUG", "1")] {
        command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    shell::forget_toolchain(&mut command);
    shell::run(&mut command)?;
    Ok(folder.join(TARGET).join("release/fuzz"))
}

/// Leaks are not looked for: an error object that the handler makes of a damaged host may have no owner.
fn fuzzer(program: &Path) -> std::process::Command {
    let mut command = shell::command(program);
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    command
}
