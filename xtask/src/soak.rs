//! `cargo xtask soak`: what each kind of call leaves in memory.

use std::path::Path;

use crate::shell::{self, Result};
use crate::{python, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let mut command = python::on_plugin(&python::default_venv()?, "soak")?;
    let gallery = workspace::build_library("custom_ops")?;
    command.env("OXCALL_TEST_LIBS", gallery.parent().unwrap_or(Path::new(".")));
    // Fewer calls than those of the page are for looking at.
    if !args.iter().any(|arg| arg.starts_with('-')) {
        command.arg("--markdown").arg(workspace::root().join("docs/reference/soak.md"));
    }
    shell::run(command.args(args))
}
