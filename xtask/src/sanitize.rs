//! `cargo xtask sanitize`: the tests of the SDK and of the engine under AddressSanitizer and ThreadSanitizer.

use std::path::PathBuf;
use std::process::Command;

use crate::shell::{self, Failure, Result};
use crate::workspace;

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// The package whose tests also run with the whole plugin.
const SERVER: &str = "oxcall-pjrt";

/// A sanitizer of the nightly compiler, and what runs under it.
pub(crate) struct Sanitizer {
    pub(crate) name: &'static str,
    /// For the compiler; a library, such as the plugin, finds the sanitizer's functions in the program (`-rdynamic`).
    flags: &'static str,
    /// The variable of its options, and these.
    options: (&'static str, &'static str),
    /// Whether the standard library has to be built with it: it would report what it cannot see there.
    builds_std: bool,
    packages: &'static [&'static str],
    /// Which of cargo's tests.
    targets: &'static [&'static str],
}

pub(crate) const SANITIZERS: &[Sanitizer] = &[
    Sanitizer {
        name: "address",
        flags: "-Zsanitizer=address -Clink-arg=-rdynamic",
        // Inventory's and the thread pools' memory lives as long as the process.
        options: (
            "ASAN_OPTIONS",
            "detect_leaks=0:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1",
        ),
        builds_std: false,
        packages: &[
            "oxcall",
            "oxcall-element",
            "oxcall-math",
            "xla-ffi-sys",
            "oxcall-hlo",
            "oxcall-jit",
            "oxcall-kernels",
            "oxcall-proto",
            "oxcall-pjrt",
            "oxcall-linalg",
            "oxcall-engine",
            "oxcall-plugin",
            "oxcall-fuzz",
            "oxcall-fuzz-programs",
        ],
        targets: &["--lib", "--tests"],
    },
    Sanitizer {
        name: "thread",
        flags: "-Zsanitizer=thread -Clink-arg=-rdynamic",
        options: ("TSAN_OPTIONS", "halt_on_error=1:second_deadlock_stack=1"),
        builds_std: true,
        // Those with threads, locks or atomics of their own.
        packages: &["oxcall", "oxcall-pjrt", "oxcall-kernels", "oxcall-engine", "oxcall-plugin"],
        // Not the schedules, whose threads are stacks that the test switches by itself, nor what counts allocations on
        // one thread, which takes an hour.
        targets: &[
            "--lib",
            "--test=expressible",
            "--test=threads",
            "--test=conformance",
            "--test=idle",
            "--test=custom_calls",
            "--test=interrupt",
        ],
    },
];

/// Runs the sanitizers that are named, or both, on the packages that are named, or all.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !shell::succeeds("rustup", &["run", "nightly", "rustc", "--version"]) {
        return Err(Failure::new(
            "sanitizers need a nightly toolchain:\n  rustup toolchain install nightly --component rust-src",
        ));
    }
    let is_sanitizer = |name: &&String| SANITIZERS.iter().any(|sanitizer| sanitizer.name == *name);
    let (names, packages): (Vec<_>, Vec<_>) = args.iter().partition(is_sanitizer);
    let chosen = |sanitizer: &&Sanitizer| names.is_empty() || names.iter().any(|name| *name == sanitizer.name);
    SANITIZERS.iter().filter(chosen).try_for_each(|sanitizer| sanitizer.run(&packages))
}

impl Sanitizer {
    fn run(&self, named: &[&String]) -> Result<()> {
        if let Some(unknown) = named.iter().find(|name| !self.packages.contains(&name.as_str())) {
            let packages = self.packages.join(", ");
            return Err(Failure::new(format!(
                "`{unknown}` is not a package of the {} sanitizer: {packages}",
                self.name
            )));
        }
        println!("under the {} sanitizer:", self.name);
        let chosen = self.packages.iter().filter(|name| named.is_empty() || named.iter().any(|arg| arg == *name));
        let mut test = self.cargo("test");
        test.arg("--no-fail-fast").args(self.targets).args(chosen.flat_map(|package| ["--package", package]));
        shell::run(&mut test)?;
        if named.is_empty() || named.iter().any(|name| *name == SERVER) { self.plugin() } else { Ok(()) }
    }

    /// The server's tests once more, with the whole plugin behind it.
    fn plugin(&self) -> Result<()> {
        shell::run(self.cargo("build").args(["--package", "oxcall-plugin-bundled"]))?;
        let mut test = self.cargo("test");
        test.args(["--package", SERVER, "--test", "conformance"]);
        test.env("OXCALL_TEST_PLUGIN", self.folder().join(TRIPLE).join("debug/liboxcall_plugin.so"));
        shell::run(&mut test)
    }

    fn folder(&self) -> PathBuf {
        workspace::target().join("sanitize").join(self.name)
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = shell::command("rustup");
        command.args(["run", "nightly", "cargo", subcommand, "--target", TRIPLE, "--target-dir"]).arg(self.folder());
        if self.builds_std {
            command.arg("-Zbuild-std");
        }
        let (variable, options) = self.options;
        command.env(variable, options).env("RUSTFLAGS", self.flags).env("RUST_BACKTRACE", "0");
        // Checked code without any optimisation is too slow to run.
        command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_INCREMENTAL", "0");
        shell::forget_toolchain(&mut command);
        command
    }
}
