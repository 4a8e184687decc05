//! `cargo xtask downstream`: the tests of libraries written in JAX, on the plugin.

use crate::python::{self, pins};
use crate::shell::{self, Result};
use crate::workspace;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let needed: Vec<&str> = [pins::PYTEST, pins::JAX_TESTS_NEED, pins::DOWNSTREAM].concat();
    let mut command = python::on_plugin(&python::with_jax("downstream", &needed)?, "downstream")?;
    command.args(args).arg("--sources").arg(workspace::scratch("downstream")?);
    if args.is_empty() {
        command.arg("--markdown").arg(workspace::root().join("docs/reference/downstream.md"));
    }
    shell::run(&mut command)
}
