//! The drift check: each header's numbers against what ffi-sys and the known history say.

use super::{NEWEST, history, layout, probe};
use crate::cpp::Compiler;
use crate::python::{self, pins};
use crate::shell::{Failure, Result};
use crate::{progress, workspace};

pub(super) fn run() -> Result<()> {
    let newest = layout::of(NEWEST)?;
    let venv = python::default_venv()?;
    let compiler = Compiler::find(&venv);
    let mut drift = Vec::new();
    let mut table =
        String::from("| jaxlib | FFI API | numbers as in the newest | known to differ |\n|---|---|---|---|\n");
    for jax in pins::JAX {
        let include = python::headers(&venv, jax.version)?;
        let expected = history::expect(jax.version, &newest)?;
        let asked: Vec<_> = expected.iter().map(|expected| &expected.item).collect();
        let measured = progress::step(&format!("numbers of jaxlib {}'s header", jax.version), || {
            probe::measure(&compiler, jax.version, &include, &asked)
        })?;
        for expected in &expected {
            let found = measured.get(&expected.item).copied();
            if found != expected.value {
                let show = |value: Option<i64>| value.map_or("nothing".into(), |value| value.to_string());
                let (want, found) = (show(expected.value), show(found));
                drift.push(format!("jaxlib {}: {} is {found}, expected {want}", jax.version, expected.item));
            }
        }
        let same = expected.iter().filter(|expected| expected.newest).count();
        let number = |name: &str| measured.get(&layout::Item::Const(name.to_owned())).copied().unwrap_or(-1);
        let api = format!("{}.{}", number("XLA_FFI_API_MAJOR"), number("XLA_FFI_API_MINOR"));
        table += &format!("| {} | {api} | {same} | {} |\n", jax.version, expected.len() - same);
    }
    if !drift.is_empty() {
        return Err(Failure::new(format!(
            "headers differ from ffi-sys in ways that no rule in xtask/src/matrix/history.rs knows:\n{}",
            drift.join("\n")
        )));
    }
    workspace::write(&workspace::root().join("docs/reference/abi.md"), &page(&table))?;
    println!("{} headers, {} numbers each: no drift", pins::JAX.len(), newest.len());
    Ok(())
}

fn page(table: &str) -> String {
    format!(
        "# The C header over the versions\n\n\
         Written by `cargo xtask matrix`, which compiles a program against the header `xla/ffi/api/c_api.h` of each\n\
         jaxlib and compares the size, alignment and field offsets of every struct, and every constant, with ffi-sys.\n\
         A difference that is not listed here fails the command.\n\n\
         {table}\n\
         ## Known differences\n\n\
         The FFI's version number says little of them: several came without a new one.\n\n{}",
        history::markdown()
    )
}
