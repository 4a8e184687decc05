//! `cargo xtask demo`: the gallery of example ops inside `jax.jit`, from nothing but Rust and Python.

use crate::shell::{self, Failure, Result};
use crate::{python, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(Failure::new("usage: cargo xtask demo"));
    }
    // Python first: where it is missing, that is said before minutes of building.
    let venv = python::default_venv()?;
    python::install_package(&venv)?;
    let library = workspace::build_library("custom_ops")?;
    shell::run(venv.python().arg("examples/custom_ops/demo.py").arg(library))
}
