//! Task runner of the workspace: `cargo xtask help` lists the commands.
//!
//! Few dependencies, so that `cargo xtask` itself compiles in seconds. Whatever a command needs beside Rust (jax, ruff,
//! libclang, a C++ compiler) comes as a pinned wheel into a virtual environment under `target/xtask`.

mod bench;
mod bindgen;
mod commands;
mod conformance;
mod coverage;
mod cpp;
mod demo;
mod docs;
mod downstream;
mod emulate;
mod fuzz;
mod gpu;
mod lanes;
mod lint;
mod matrix;
mod messages;
mod miri;
mod mutants;
mod progress;
mod python;
mod release;
mod reproducible;
mod sanitize;
mod shell;
mod site;
mod smoke;
mod soak;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = coverage::compile() {
        return code;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match commands::dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nerror: {failure}");
            ExitCode::FAILURE
        }
    }
}
