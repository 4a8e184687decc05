//! Reading, verifying and printing.

use oxcall_hlo::{
    Error, Module, parse_text, print_module, print_module_with_locations, read_bytecode, read_hlo_proto, verify,
};

use crate::memory;

/// Reads bytecode, and then as [`checked`].
pub(crate) fn bytecode(data: &[u8]) -> Option<Module> {
    checked(data.len(), || read_bytecode(data))
}

/// Reads an HLO proto, and then as [`checked`].
pub(crate) fn hlo_proto(data: &[u8]) -> Option<Module> {
    checked(data.len(), || read_hlo_proto(data))
}

/// Reads text, and then as [`checked`].
pub(crate) fn text(text: &str) -> Option<Module> {
    checked(text.len(), || parse_text(text))
}

/// The program that `read` gives, if it can be verified; what is printed of it was read again.
fn checked(length: usize, read: impl FnOnce() -> Result<Module, Error>) -> Option<Module> {
    let module = memory::bounded(length, read).map_err(|error| says_where(&error)).ok()?;
    let verified = memory::bounded(length, || verify(&module));
    if let Err(error) = &verified {
        says_where(error);
        assert!(error.op.is_some(), "a mistake of no op: {error}");
    }
    for print in [print_module, print_module_with_locations] {
        let printed = print(&module);
        let again = parse_text(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(printed, print(&again), "another program is read of what is printed");
        assert_eq!(verified.is_ok(), verify(&again).is_ok(), "what is printed verifies otherwise\n{printed}");
    }
    verified.is_ok().then_some(module)
}

/// Errors have a message, and if they are about an op a place. Of a whole function, its name says where.
fn says_where(error: &Error) {
    assert!(!error.message.is_empty(), "{error:?}");
    let of_function = error.op.as_ref().is_none_or(|op| op.starts_with("func.func @"));
    assert!(of_function || error.location.is_some(), "a mistake nowhere: {error}");
}
