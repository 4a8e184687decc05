//! `cargo xtask smoke`: wheels that can be installed, and a minute of Miri and of fuzzing.

use std::path::{Path, PathBuf};

use crate::python::Venv;
use crate::shell::{self, Context, Failure, Result};
use crate::{fuzz, lint, miri, python, test, workspace};

pub(crate) const PARTS: &[lint::Part] = &[("wheels", wheels), ("miri", interpret), ("fuzz", damage)];

pub(crate) fn run(args: &[String]) -> Result<()> {
    lint::select(args, PARTS)
}

/// Runs one program through the installed wheels.
const USE: &str = "
import jax, jax.numpy as jnp, oxcall, oxcall_plugin
device, = jax.devices('oxcall')[:1]
with jax.default_device(device):
    assert float(jax.jit(lambda x: (x * 2).sum())(jnp.arange(4.0))) == 12.0
for module in (oxcall, oxcall_plugin):
    print(module.__file__)
";

/// Builds the wheels of both Python packages, and runs a program through them. The plugin's wheel takes the library
/// that the tests run on: building it anew takes minutes.
fn wheels() -> Result<()> {
    let venv = python::default_venv()?;
    let built = workspace::empty_scratch("smoke/wheels")?;
    let packages = ["oxcall", "oxcall-plugin"].map(|package| workspace::root().join("python").join(package));
    let mut build = venv.python();
    build.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]).arg(&built).args(&packages);
    shell::run(build.env("OXCALL_PLUGIN_LIBRARY", test::plugin()?))?;
    let files = std::fs::read_dir(&built).context(built.display())?.flatten().map(|file| file.path());
    let files: Vec<_> = files.collect();
    if files.len() != packages.len() {
        return Err(Failure::new(format!("{} wheels were built, not {}: {files:?}", files.len(), packages.len())));
    }
    use_wheels(&venv, &files)
}

/// Installs the wheels of both packages into an empty folder, and runs a program through them.
pub(crate) fn use_wheels(venv: &Venv, files: &[PathBuf]) -> Result<()> {
    let installed = workspace::empty_scratch("smoke/installed")?;
    let mut install = venv.python();
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&installed).args(files);
    shell::run(&mut install)?;
    // The installed packages come before the editable ones of the environment.
    let mut program = venv.python();
    program.args(["-c", USE]).env("PYTHONPATH", &installed).env_remove("OXCALL_PLUGIN_LIBRARY");
    let paths = shell::output(program.current_dir(&installed))?;
    match paths.lines().find(|path| !Path::new(path).starts_with(&installed)) {
        Some(other) => Err(Failure::new(format!("`{other}` was imported instead of what the wheels hold"))),
        None => Ok(()),
    }
}

fn interpret() -> Result<()> {
    if !miri::is_installed() {
        println!("miri: skipped: there is no nightly toolchain with miri");
        return Ok(());
    }
    miri::run(&["oxcall".to_owned(), "frame".to_owned(), "descriptor".to_owned()])
}

fn damage() -> Result<()> {
    if !fuzz::can_build() {
        println!("fuzz: skipped: there is no nightly toolchain");
        return Ok(());
    }
    // Those that build without the engine, for about twenty seconds each.
    fuzz::repeatable(&["calls", "bytecode", "text"], 50_000)
}
