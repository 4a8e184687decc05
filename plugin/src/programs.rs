//! Reading programs: from bytes in a named format to a verified module.

use oxcall_hlo::{ErrorKind, Module};
use oxcall_pjrt::{Error, Program, Result};

/// Reads and verifies a program in the format `mlir`: StableHLO as bytecode or text.
///
/// # Errors
/// INVALID_ARGUMENT for what is no valid program and for formats that are not known, UNIMPLEMENTED for what is not
/// supported, each with the op and its source location.
pub(crate) fn read(program: Program<'_>) -> Result<Module> {
    match program.format {
        "mlir" => {}
        "hlo" | "hlo_with_config" => {
            return Err(Error::unimplemented(format!(
                "programs in the format '{}' (HLO protos) are not supported; send StableHLO in the format 'mlir'",
                program.format
            )));
        }
        _ => return Err(program.unknown_format()),
    }
    let module = if oxcall_hlo::is_bytecode(program.code) {
        oxcall_hlo::read_bytecode(program.code)
    } else {
        std::str::from_utf8(program.code)
            .map_err(|_| {
                oxcall_hlo::Error::invalid(
                    "the program is neither MLIR bytecode nor text (HLO protos are not supported)",
                )
            })
            .and_then(oxcall_hlo::parse_text)
    };
    let module = module.map_err(error)?;
    oxcall_hlo::verify(&module).map_err(error)?;
    Ok(module)
}

fn error(error: oxcall_hlo::Error) -> Error {
    let text = error.to_string();
    match error.kind {
        ErrorKind::Invalid => Error::invalid_argument(text),
        ErrorKind::Unsupported => Error::unimplemented(text),
        ErrorKind::TooLarge => Error::resource_exhausted(text),
    }
}
