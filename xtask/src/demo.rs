//! `cargo xtask demo`: the gallery of example ops inside `jax.jit`, on stock JAX and on the plugin, from nothing but
//! Rust and Python.

use crate::shell::{self, Result};
use crate::{commands, python, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(commands::usage("demo"));
    }
    // Python first: where it is missing, that is said before minutes of building.
    let venv = python::default_venv()?;
    python::install_packages(&venv)?;
    let library = workspace::build_library("custom_ops")?;
    let plugin = workspace::build_plugin()?;
    for platforms in ["cpu", "oxcall,cpu"] {
        let mut command = venv.python();
        command.arg("examples/custom_ops/demo.py").arg(&library);
        shell::run(command.env("JAX_PLATFORMS", platforms).env("OXCALL_PLUGIN_LIBRARY", &plugin))?;
    }
    Ok(())
}
