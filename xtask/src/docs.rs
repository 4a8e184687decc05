//! `cargo xtask docs`: the API docs.

use crate::shell::{self, Result};
use crate::{commands, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(commands::usage("docs"));
    }
    let mut command = shell::cargo();
    command.args(["doc", "--workspace", "--no-deps", "--exclude", "xtask", "--features", "oxcall/testing"]);
    // Internal crates' docs point at their private modules; `lint` documents those too.
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))?;
    println!("API docs: {}", workspace::target().join("doc/oxcall/index.html").display());
    Ok(())
}
