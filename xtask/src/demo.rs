//! `cargo xtask demo`: the gallery of example ops inside `jax.jit`, on stock JAX and then on the plugin, from nothing
//! but Rust and Python.

use std::path::Path;

use crate::progress::Started;
use crate::python::{self, Venv};
use crate::shell::{self, Result};
use crate::{commands, progress, workspace};

/// The package of the example ops.
const GALLERY: &str = "custom_ops";

pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(commands::usage("demo"));
    }
    // Where Python is missing, that is said before minutes of building.
    python::chosen(python::pins::PYTHON)?;
    // The compiler and pip do not wait for each other.
    let build = Started::new("building the gallery", &mut workspace::release_build(&[GALLERY]))?;
    let venv = python::default_venv()?;
    python::install_package(&venv, "oxcall")?;
    build.finish()?;
    let library = workspace::release_library(GALLERY);
    // The ops are there in a minute and a half; the plugin takes minutes.
    gallery(&venv, &library, "cpu")?;
    println!(
        "\nThese were the ops on stock JAX. Next, the same library on the plugin, which is built in a few minutes:"
    );
    progress::command("building the plugin", &mut workspace::plugin_build())?;
    python::install_package(&venv, "oxcall-plugin")?;
    gallery(&venv, &library, "oxcall,cpu")
}

fn gallery(venv: &Venv, library: &Path, platforms: &str) -> Result<()> {
    let mut command = venv.python();
    command.arg("examples/custom_ops/demo.py").arg(library).env("JAX_PLATFORMS", platforms);
    shell::run(command.env("OXCALL_PLUGIN_LIBRARY", workspace::plugin_library()))
}
