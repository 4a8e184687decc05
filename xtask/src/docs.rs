//! `cargo xtask docs`: the API docs, and the site that has them.

use std::path::PathBuf;

use crate::shell::{self, Result};
use crate::{commands, site, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    match args {
        [] => println!("API docs: {}", api()?.join("oxcall/index.html").display()),
        [site] if site == "site" => println!("site: {}", site::build()?.join("index.html").display()),
        _ => return Err(commands::usage("docs")),
    }
    Ok(())
}

/// Builds the API docs, and gives their folder.
pub(crate) fn api() -> Result<PathBuf> {
    let mut command = shell::cargo();
    command.args(["doc", "--workspace", "--no-deps", "--exclude", "xtask", "--features", "oxcall/testing"]);
    // Internal crates' docs point at their private modules; `lint` documents those too.
    shell::run(command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))?;
    Ok(workspace::target().join("doc"))
}
