//! Task runner of the workspace: `cargo xtask help` lists the commands.
//!
//! Plain std, so that `cargo xtask` itself compiles in seconds. Whatever a command needs beside Rust (jax, ruff,
//! libclang, a C++ compiler) comes as a pinned wheel into a virtual environment under `target/xtask`.

mod bench;
mod bindgen;
mod conformance;
mod coverage;
mod cpp;
mod demo;
mod docs;
mod downstream;
mod fuzz;
mod lint;
mod matrix;
mod miri;
mod mutants;
mod progress;
mod python;
mod reproducible;
mod sanitize;
mod shell;
mod soak;
mod test;
mod workspace;

use std::process::ExitCode;

use shell::{Failure, Result};

/// A command: its name, its arguments as help shows them, what it does, and how.
struct Command {
    name: &'static str,
    args: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        args: "",
        about: "build the example ops, install jax, and run the gallery inside jax.jit",
        run: demo::run,
    },
    Command {
        name: "test",
        args: "[rust|python|torch|lint]...",
        about: "every Rust and Python test, or the named parts (lint is not part of the default)",
        run: test::run,
    },
    Command {
        name: "lint",
        args: "[fmt|clippy|rustdoc|ruff|deny]...",
        about: "formatting, clippy, rustdoc, ruff, and the dependency policy",
        run: lint::run,
    },
    Command {
        name: "conformance",
        args: "[--family NAME]... [--every N]",
        about: "the plugin against stock JAX: every op and dtype; writes docs/conformance.md if everything ran",
        run: conformance::run,
    },
    Command {
        name: "downstream",
        args: "[--library NAME]... [--file PART]",
        about: "the tests of libraries written in JAX, on the plugin; writes docs/downstream.md if everything ran",
        run: downstream::run,
    },
    Command {
        name: "matrix",
        args: "[abi|peers|ops|plugin|torch|torch_xla]...",
        about: "one op library on every jaxlib and torch, one plugin on every jaxlib and torch_xla; C++ handlers; structs",
        run: matrix::run,
    },
    Command {
        name: "bench",
        args: "ffi | torch | linalg | plugin [NAME]...",
        about: "cost of a call beside C++, in XLA and in torch; programs beside XLA:CPU; writes docs/bench",
        run: bench::run,
    },
    Command { name: "docs", args: "", about: "build the API docs and check the guide", run: docs::run },
    Command {
        name: "miri",
        args: "[package] [test filter]",
        about: "the crates' unsafe code under miri (needs a nightly toolchain with miri)",
        run: miri::run,
    },
    Command {
        name: "fuzz",
        args: "jax [N] [--seed S] | [calls|bytecode|text|hlo_proto|options|run]... [seconds] [keep]",
        about: "N random JAX programs against stock JAX; damaged calls and programs under AddressSanitizer (needs nightly)",
        run: fuzz::run,
    },
    Command {
        name: "sanitize",
        args: "[address|thread] [package]...",
        about: "the SDK's and the engine's tests under AddressSanitizer and ThreadSanitizer (needs nightly with rust-src)",
        run: sanitize::run,
    },
    Command {
        name: "coverage",
        args: "[package]...",
        about: "lines of each crate that Rust tests run (needs llvm-tools); writes docs/coverage.md",
        run: coverage::run,
    },
    Command {
        name: "mutants",
        args: "[frames|dims|bytecode|text|hlo_proto]... [--shard K/N]",
        about: "whether the tests see each change of what decodes frames, dimensions and programs (needs cargo-mutants)",
        run: mutants::run,
    },
    Command {
        name: "soak",
        args: "[KIND]... [--calls N]",
        about: "what 100,000 calls of each kind leave in memory; writes docs/soak.md, unless there are --calls",
        run: soak::run,
    },
    Command {
        name: "reproducible",
        args: "[package]",
        about: "two builds of an op library in different folders: the same bytes, and no path in them",
        run: reproducible::run,
    },
    Command {
        name: "bindgen",
        args: "[--check]",
        about: "regenerate ffi-sys from the headers inside published wheels: jaxlib, tensorflow-cpu",
        run: bindgen::run,
    },
];

fn main() -> ExitCode {
    if let Some(code) = coverage::compile() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nerror: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let Some((name, rest)) = args.split_first() else {
        print!("{}", help());
        return Err(Failure::new("name a command"));
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print!("{}", help());
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => Err(Failure::new(format!("`{name}` is no command\n\n{}", help()))),
    }
}

fn help() -> String {
    let mut text = String::from("cargo xtask COMMAND\n\n");
    for Command { name, args, about, .. } in COMMANDS {
        let usage = format!("{name} {args}");
        text += &format!("  {usage:<38} {about}\n");
    }
    text += "\nEnvironment: OXCALL_PYTHON (the interpreter to use), CXX (the C++ compiler to use).\n";
    text
}
