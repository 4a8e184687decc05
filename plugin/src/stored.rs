//! Stored executables. Compiling takes about a millisecond, so what is stored is the program itself.

use oxcall_pjrt::{Error, Program, Result};

/// What stored executables begin with; the last byte is the version of the form.
const MAGIC: &[u8; 8] = b"oxcall\0\x01";

/// The bytes of a program that was compiled from `code`.
pub(crate) fn store(code: &[u8]) -> Vec<u8> {
    [MAGIC, code].concat()
}

/// The program in `bytes`.
///
/// # Errors
/// INVALID_ARGUMENT if they are no stored executable, or one of another version.
pub(crate) fn load(bytes: &[u8]) -> Result<Program<'_>> {
    let code = bytes.strip_prefix(MAGIC).ok_or_else(|| {
        let what = match bytes.starts_with(&MAGIC[..7]) {
            true => "the executable was stored by another version of the plugin",
            false => "the bytes are not an executable that this plugin stored",
        };
        Error::invalid_argument(format!("{what}: compile the program again"))
    })?;
    Ok(Program { format: "mlir", code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_round_trip_and_nonsense_is_refused() {
        assert_eq!(load(&store(b"ML")).unwrap().code, b"ML");
        assert!(load(b"").unwrap_err().message().contains("not an executable"));
        assert!(load(b"oxcall\0\x02rest").unwrap_err().message().contains("another version"));
    }
}
