//! `cargo xtask emulate`: the SDK's tests on aarch64, by QEMU. The plugin is compiled, and does not run.

use std::path::Path;

use crate::shell::{self, Failure, Result};

const TRIPLE: &str = "aarch64-unknown-linux-gnu";

/// The linker, and the libraries of its processor.
const LINKER: &str = "aarch64-linux-gnu-gcc";
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

const EMULATOR: &str = "qemu-aarch64";

/// What the command needs, as Debian has it.
const SETUP: &str = "\
  apt-get install qemu-user gcc-aarch64-linux-gnu
  rustup target add aarch64-unknown-linux-gnu";

/// The packages whose tests run.
const TESTED: [&str; 5] = ["xla-ffi-sys", "oxcall-element", "oxcall-math", "oxcall-jit", "oxcall"];

/// The packages that are compiled.
const COMPILED: [&str; 2] = ["custom_ops", "oxcall-plugin-bundled"];

/// Tests that start their own program again, which the kernel cannot.
const SKIPPED: [&str; 2] = ["panics_outside_of_the_function_abort", "a_broken_stderr_changes_nothing"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    for program in [LINKER, EMULATOR] {
        if !shell::succeeds(program, &["--version"]) {
            return Err(Failure::new(format!("`{program}` was not found; on Debian:\n{SETUP}")));
        }
    }
    if !Path::new(LIBRARIES).is_dir() {
        return Err(Failure::new(format!("{LIBRARIES} was not found; on Debian:\n{SETUP}")));
    }
    let cargo = |subcommand: &str, packages: &[&str]| {
        let mut command = shell::cargo();
        command.args([subcommand, "--target", TRIPLE]).args(packages.iter().flat_map(|name| ["--package", name]));
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
        command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", format!("{EMULATOR} -L {LIBRARIES}"));
        command
    };
    let mut tests = cargo("test", &TESTED);
    tests.args(["--no-fail-fast", "--lib", "--tests", "--"]).args(args);
    shell::run(tests.args(SKIPPED.iter().flat_map(|name| ["--skip", name])))?;
    shell::run(&mut cargo("check", &COMPILED))
}
