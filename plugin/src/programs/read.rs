//! Reading programs: from bytes in a named format to a verified module.

use oxcall_engine::with_default_environment;
use oxcall_hlo::{ErrorKind, Module, sharding};
use oxcall_pjrt::{Error, Program, Result};

/// Reads and verifies a program: in the format `mlir`, StableHLO as bytecode or text; in `hlo` and `hlo_with_config`,
/// an HLO proto.
///
/// # Errors
/// INVALID_ARGUMENT for invalid programs and unknown formats, UNIMPLEMENTED for unsupported ops, attributes and types,
/// each with the op and its source location; RESOURCE_EXHAUSTED if memory is short.
pub(crate) fn read(program: Program<'_>) -> Result<Module> {
    let len = program.code.len();
    oxcall_engine::room_to_read(if oxcall_hlo::is_bytecode(program.code) { len } else { len / 4 })?;
    // Decimal numbers of texts are made by arithmetic.
    with_default_environment(|| read_verified(program))
}

fn read_verified(program: Program<'_>) -> Result<Module> {
    let module = match program.format {
        "mlir" => read_mlir(program.code),
        "hlo" => oxcall_hlo::read_hlo_proto(program.code),
        "hlo_with_config" => oxcall_hlo::read_hlo_proto_with_config(program.code),
        _ => return Err(program.unknown_format()),
    };
    let mut module = module.map_err(error)?;
    oxcall_hlo::verify(&module).map_err(error)?;
    oxcall_hlo::settle_futures(&mut module);
    sharding::import_custom_calls(&mut module).map_err(error)?;
    Ok(module)
}

/// Reads StableHLO.
fn read_mlir(code: &[u8]) -> std::result::Result<Module, oxcall_hlo::Error> {
    if oxcall_hlo::is_bytecode(code) {
        return oxcall_hlo::read_bytecode(code);
    }
    let neither = |_| oxcall_hlo::Error::invalid("the program is neither MLIR bytecode nor text");
    std::str::from_utf8(code).map_err(neither).and_then(oxcall_hlo::parse_text)
}

fn error(error: oxcall_hlo::Error) -> Error {
    let text = error.to_string();
    match error.kind {
        ErrorKind::Invalid => Error::invalid_argument(text),
        ErrorKind::Unsupported => Error::unimplemented(text),
        ErrorKind::TooLarge => Error::resource_exhausted(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_their_errors() {
        let proto = include_bytes!("../../hlo/tests/hlo_proto/corpus/single.pb");
        assert_eq!(read(Program { format: "hlo", code: proto }).unwrap().main().body.ops.len(), 1);
        let nonsense = |format, code| read(Program { format, code }).unwrap_err().to_string();
        assert!(nonsense("hlo", b"HloModule m").contains("malformed"));
        assert!(nonsense("hlo_with_config", b"").contains("no module"));
        assert!(nonsense("mlir", b"\xff").contains("neither"));
        assert!(nonsense("text", b"").contains("Unknown program format 'text'"));
    }
}
