//! `cargo xtask conformance`: the plugin against stock JAX, op by op and dtype by dtype.

use crate::shell::{self, Result};
use crate::{python, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut command = python::on_plugin(&python::default_venv()?, "conformance")?;
    command.args(args);
    if args.is_empty() {
        command.arg("--markdown").arg(workspace::root().join("docs/reference/conformance.md"));
    }
    shell::run(&mut command)
}
