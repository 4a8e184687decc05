//! `cargo xtask matrix`: one op library and one plugin on every supported jaxlib, what each may send to the plugin, the
//! plugin under torch_xla, C++ handlers of every jaxlib in the plugin, and every struct against each one's header.

mod abi;
mod history;
mod layout;
mod probe;
mod row;
mod table;

use crate::python::{self, pins};
use crate::shell::{Failure, Result};
use crate::{lint, test, workspace};
use row::{Host, Row, Suite};

/// The bindings of the newest header.
const NEWEST: &str = "ffi-sys/src/xla_ffi.rs";

/// The oldest jax that the plugin supports.
pub(crate) const PLUGIN_SINCE: &str = "0.4.38";

pub(crate) const PARTS: &[lint::Part] = &[
    ("abi", abi::run),
    ("peers", test::all_peers),
    ("ops", ops),
    ("plugin", plugin),
    ("stablehlo", test::stablehlo),
    ("torch", torch),
    ("torch_xla", test::torch_xla),
];

pub(crate) fn run(args: &[String]) -> Result<()> {
    lint::select(args, PARTS)
}

/// The gallery's library on every jaxlib.
fn ops() -> Result<()> {
    let suite = gallery("tests/matrix/check.py")?;
    let about = "The same `libcustom_ops.so`, built once, is loaded by each of these, with the jax of the same\n\
        version. How the C header differs between them is in [abi.md](abi.md).";
    write("docs/reference/matrix.md", "One binary on every supported jaxlib", about, &suite, pins::JAX)
}

/// The checks of a script on the gallery's library.
fn gallery(script: &'static str) -> Result<Suite> {
    Ok(Suite {
        what: "ops",
        script,
        library: workspace::build_library("custom_ops")?,
        packages: vec![python::source("oxcall")],
        plugin: None,
    })
}

/// The gallery's library on every torch.
fn torch() -> Result<()> {
    let suite = gallery("tests/matrix/torch_ops.py")?;
    let about = "The same `libcustom_ops.so`, built once, is loaded by each of these, where there is no JAX.\n\
        What an older torch cannot pass to operators, texts and lists before 2.10, is left out there: the argument where\n\
        the op has a default for it, otherwise the op.";
    write("docs/reference/torch-matrix.md", "One binary on every supported torch", about, &suite, pins::TORCH)
}

/// The bundled plugin on every jax that it supports.
fn plugin() -> Result<()> {
    let suite = Suite {
        what: "plugin",
        script: "tests/matrix/plugin.py",
        library: workspace::build_library("custom_ops")?,
        packages: vec![python::source("oxcall"), python::source("oxcall-plugin")],
        plugin: Some(workspace::build_plugin()?),
    };
    let about = "The same `liboxcall_plugin.so`, built once, is found and used by each of these. Programs give what\n\
        stock JAX gives on its CPU in the same process.";
    let first = pins::JAX.iter().position(|jax| jax.version == PLUGIN_SINCE).unwrap_or_default();
    write("docs/reference/plugin-matrix.md", "The plugin on every supported jax", about, &suite, &pins::JAX[first..])
}

/// Runs a suite on each release, and writes the page if every check passed.
fn write(page: &str, title: &str, about: &str, suite: &Suite, hosts: &[impl Host]) -> Result<()> {
    let rows: Vec<Row> = hosts.iter().map(|host| suite.run(host)).collect::<Result<_>>()?;
    let table = table::markdown(&rows);
    println!("\n{table}");
    let failed: Vec<String> = rows.iter().filter_map(Row::complaint).collect();
    if !failed.is_empty() {
        return Err(Failure::new(failed.join("\n")));
    }
    let script = suite.script;
    let text = format!(
        "# {title}\n\nWritten by `cargo xtask matrix`; the columns are the checks of\n[{script}](../../{script}).\n\n{about}\n\n\
         {table}"
    );
    workspace::write(&workspace::root().join(page), &text)?;
    println!("written: {page}");
    Ok(())
}
