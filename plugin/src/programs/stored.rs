//! Stored executables. Compiling takes about a millisecond, so an executable is stored as its program.

use oxcall_pjrt::{Error, Program, Result};

/// The magic of stored executables; its last byte is the version of the form.
const MAGIC: &[u8; 8] = b"oxcall\0\x02";

/// The formats of programs, by the byte that follows.
const FORMATS: [&str; 3] = ["mlir", "hlo", "hlo_with_config"];

/// The bytes of what was compiled from `program`.
pub(crate) fn store(program: Program<'_>) -> Result<Vec<u8>> {
    let format = FORMATS.iter().position(|&format| format == program.format);
    let format = format.ok_or_else(|| program.unknown_format())?;
    Ok([&MAGIC[..], &[format as u8], program.code].concat())
}

/// The program in `bytes`.
///
/// # Errors
/// INVALID_ARGUMENT if they are not a stored executable, or one of another version.
pub(crate) fn load(bytes: &[u8]) -> Result<Program<'_>> {
    let stored = bytes.strip_prefix(MAGIC).and_then(|rest| rest.split_first());
    let format = stored.and_then(|(&format, code)| Some((*FORMATS.get(usize::from(format))?, code)));
    let (format, code) = format.ok_or_else(|| {
        let what = if bytes.starts_with(&MAGIC[..7]) {
            "the executable was stored by another version of the plugin"
        } else {
            "the bytes are not an executable that this plugin stored"
        };
        Error::invalid_argument(format!("{what}; compile the program again"))
    })?;
    Ok(Program { format, code })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_round_trip_and_nonsense_is_refused() {
        for format in FORMATS {
            let stored = store(Program { format, code: b"ML" }).unwrap();
            let program = load(&stored).unwrap();
            assert_eq!((program.format, program.code), (format, &b"ML"[..]));
        }
        assert!(store(Program { format: "text", code: b"" }).is_err());
        assert!(load(b"").unwrap_err().message().contains("not an executable"));
        assert!(load(b"oxcall\0\x01rest").unwrap_err().message().contains("another version"));
    }
}
