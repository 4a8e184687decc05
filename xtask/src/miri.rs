//! `cargo xtask miri`: unsafe code under an interpreter that sees undefined behaviour.

use crate::shell::{self, Failure, Result};

/// Isolation is off because the tests read clocks.
const FLAGS: &str = "-Zmiri-symbolic-alignment-check -Zmiri-disable-isolation";

/// Tests of a package.
struct Run {
    package: &'static str,
    flags: &'static str,
    /// Which of cargo's tests.
    target: &'static [&'static str],
    /// Parts of names; all tests if there are none.
    only: &'static [&'static str],
    /// Parts of names.
    skip: &'static [&'static str],
}

const SDK: Run = Run {
    package: "oxcall",
    flags: "-Zmiri-strict-provenance",
    target: &["--lib"],
    only: &[],
    // What is below.
    skip: &["torch::tests::calls", "habana::tests", "rules::tests"],
};

const PJRT: Run = Run { package: "oxcall-pjrt", target: &["--lib"], only: &[], skip: &[], ..SDK };

/// Of the engine, what has unsafe code of its own: what kernels are given, executions, fused programs, custom calls.
/// Rayon's queues work with addresses as integers.
const ENGINE: Run = Run {
    package: "oxcall-engine",
    flags: "-Zmiri-permissive-provenance -Zmiri-tree-borrows -Zmiri-ignore-leaks",
    ..PJRT
};

/// Below the engine: memory, threads that help, and programs on pieces of arrays. Other kernels are safe code over
/// slices, and far too slow here.
const KERNELS: Run = Run { package: "oxcall-kernels", ..ENGINE };

/// What runs. Everything follows stacked borrows with strict provenance, but for addresses that travel as integers;
/// what asynchronous work and states share follows tree borrows as well.
///
/// Leaks of the unit tests are errors. Those of the others are not looked at: threads that still run when the tests
/// end, and payloads whose drop panics, would count; `ffi/tests/no_alloc.rs` counts what is allocated and freed.
const RUNS: &[Run] = &[
    SDK,
    // Handles are integers on the stack of torch's kernels.
    Run { flags: "-Zmiri-permissive-provenance", only: &["torch::tests::calls"], skip: &[], ..SDK },
    // Handlers made from descriptors live as long as the process.
    Run {
        flags: "-Zmiri-strict-provenance -Zmiri-ignore-leaks",
        only: &["habana::tests", "rules::tests"],
        skip: &[],
        ..SDK
    },
    Run {
        flags: "-Zmiri-strict-provenance -Zmiri-ignore-leaks",
        target: &["--test", "*"],
        skip: &["attrs::pointers"],
        ..SDK
    },
    Run {
        flags: "-Zmiri-tree-borrows -Zmiri-ignore-leaks",
        target: &["--test", "expressible"],
        only: &["aliases", "asynchronous", "attrs::pointers", "contexts", "states"],
        ..SDK
    },
    PJRT,
    // The addresses of buffers are integers in the API.
    Run { flags: "-Zmiri-permissive-provenance -Zmiri-ignore-leaks", target: &["--test", "conformance"], ..PJRT },
    Run { only: &["memory::", "pool::tests", "sort::partition", "tile::tiled_loop"], ..KERNELS },
    Run { only: ENGINE_TESTS, ..ENGINE },
];

/// A few of each sort: compiling a program takes minutes here.
const ENGINE_TESTS: &[&str] = &[
    "custom_call::status::",
    "tests::straight::chains_work_in_place",
    "tests::straight::donated_memory",
    "tests::control_flow::branches_give_their_results",
    "tests::control_flow::donated_arguments",
    "tests::custom_call::chains_of_calls",
    "tests::custom_call::aliases",
    "tests::legacy_call::signatures",
    "compile::fusion::tests::results_that_are_reduced",
    "collective::tests::reduce_scatter_gives_parts",
    "collective::tests::variadic_collectives",
    "collective::tests::a_process_that_fails_fails_all",
    "tests::manual_computation::every_device_computes_on_its_part",
];

/// Whether there is a nightly toolchain with Miri.
pub(crate) fn is_installed() -> bool {
    shell::succeeds("rustup", &["run", "nightly", "cargo", "miri", "--version"])
}

/// Runs everything, or of a package's unit tests those that are named: `[package] [names]`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !is_installed() {
        return Err(Failure::new(
            "miri needs a nightly toolchain with its component:\n  rustup toolchain install nightly --component miri,rust-src",
        ));
    }
    let Some(first) = args.first() else { return RUNS.iter().try_for_each(|run| run.start(&[])) };
    let of_package = [SDK, PJRT, KERNELS, ENGINE].into_iter().find(|run| run.package == first);
    let (run, names) = match of_package {
        Some(run) => (run, &args[1..]),
        None => (Run { target: &["--lib", "--tests"], ..SDK }, args),
    };
    run.start(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

impl Run {
    fn start(&self, names: &[&str]) -> Result<()> {
        // Not `cargo +nightly`: inside `cargo xtask`, `cargo` is the toolchain's own, which knows no `+`.
        let mut command = shell::command("rustup");
        command.args(["run", "nightly", "cargo", "miri", "test", "--package", self.package]).args(self.target);
        command.arg("--").args(self.only).args(names);
        for skip in self.skip {
            command.args(["--skip", skip]);
        }
        shell::forget_toolchain(&mut command);
        // Backtraces of panics that tests provoke would take longer than the tests.
        shell::run(command.env("MIRIFLAGS", format!("{FLAGS} {}", self.flags)).env("RUST_BACKTRACE", "0"))
    }
}
