//! `cargo xtask conformance`: the plugin against stock JAX, op by op and dtype by dtype.

use crate::shell::{self, Result};
use crate::{python, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let venv = python::default_venv()?;
    python::install_packages(&venv)?;
    let plugin = workspace::build_plugin()?;
    let mut command = venv.python();
    command.args(["-m", "conformance"]).args(args);
    if args.is_empty() {
        command.arg("--markdown").arg(workspace::root().join("docs/conformance.md"));
    }
    command.current_dir(workspace::root().join("tests")).env("OXCALL_PLUGIN_LIBRARY", plugin);
    shell::run(&mut command)
}
