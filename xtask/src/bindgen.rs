//! `cargo xtask bindgen`: ffi-sys from the headers inside published wheels: jaxlib's (XLA FFI), tensorflow-cpu's (PJRT)
//! and torch's.
//!
//! Two runs of this program: the first fetches the headers and libclang, and starts the second, which has bindgen
//! compiled in (its feature `bindgen`) and generates.

#[cfg(feature = "bindgen")]
mod generate;

use std::path::{Path, PathBuf};

use crate::python::{self, pins};
use crate::shell::{self, Failure, Result};
use crate::{commands, workspace};

/// Set on the second run: the folder that holds what [`fetch`] found.
const INPUTS: &str = "OXCALL_BINDGEN_INPUTS";

/// The file that holds the include folder of the PJRT headers; those of the XLA FFI are in files named by the version.
const PJRT: &str = "pjrt";

/// The file that holds the include folder of torch's headers.
const TORCH: &str = "torch";

/// The layouts of PJRT structs in a newer version.
const LAYOUTS: &str = "layouts";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let check = match args {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err(commands::usage("bindgen")),
    };
    match std::env::var_os(INPUTS) {
        None => again(&fetch()?, args),
        Some(inputs) => generate(Path::new(&inputs), check),
    }
}

#[cfg(feature = "bindgen")]
use generate::generate;

#[cfg(not(feature = "bindgen"))]
fn generate(_: &Path, _: bool) -> Result<()> {
    Err(Failure::new(format!("{INPUTS} is set, but this xtask was built without its `bindgen` feature")))
}

/// Writes down where each version's headers, libclang and the compiler's own headers are, a file each.
fn fetch() -> Result<PathBuf> {
    let inputs = workspace::scratch("bindgen")?;
    let venv = python::tool_venv("libclang", pins::LIBCLANG)?;
    for jaxlib in pins::HEADERS {
        workspace::write(&inputs.join(jaxlib), &python::headers(&venv, jaxlib)?.to_string_lossy())?;
    }
    let pjrt = python::package_headers(&venv, &python::TENSORFLOW, pins::PJRT_HEADERS)?;
    workspace::write(&inputs.join(PJRT), &pjrt.to_string_lossy())?;
    let torch = python::package_headers(&venv, &python::TORCH, pins::TORCH_HEADERS)?;
    workspace::write(&inputs.join(TORCH), &torch.to_string_lossy())?;
    let layouts = python::tool_venv("pypjrt", pins::PYPJRT)?.eval(include_str!("bindgen/layouts.py"))?;
    workspace::write(&inputs.join(LAYOUTS), &(layouts + "\n"))?;
    let libclang = venv.eval("import clang; print(clang.__path__[0] + '/native')")?;
    workspace::write(&inputs.join("libclang"), &libclang)?;
    // libclang's wheel holds no `stddef.h`; the C compiler that links Rust programs has one.
    let builtin = shell::output(shell::command("cc").arg("-print-file-name=include"))?;
    workspace::write(&inputs.join("builtin"), builtin.trim())?;
    Ok(inputs)
}

/// Runs this program again, with bindgen compiled in.
fn again(inputs: &Path, args: &[String]) -> Result<()> {
    let libclang = workspace::read(&inputs.join("libclang"))?;
    let mut command = shell::cargo();
    command.args(["run", "--package", "xtask", "--features", "bindgen", "--", "bindgen"]).args(args);
    shell::run(command.env(INPUTS, inputs).env("LIBCLANG_PATH", libclang))
}
