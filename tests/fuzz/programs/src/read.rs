//! Reading, verifying and printing.

use oxcall_hlo::{
    Error, Module, parse_text, print_module, print_module_with_locations, read_bytecode, read_hlo_proto, verify,
};

use crate::memory;

/// Reads bytecode, and then as [`checked`].
pub(crate) fn bytecode(data: &[u8]) -> Option<Module> {
    checked(data.len(), || read_bytecode(data))
}

/// Reads an HLO proto. Only what can be verified has a printed form: the others may say what text does not.
pub(crate) fn hlo_proto(data: &[u8]) -> Option<Module> {
    let (module, mistake) = verified(data.len(), || read_hlo_proto(data))?;
    if mistake.is_some() {
        return None;
    }
    reads_back(&module, None);
    Some(module)
}

/// Reads text, and then as [`checked`].
pub(crate) fn text(text: &str) -> Option<Module> {
    checked(text.len(), || parse_text(text))
}

/// The program that `read` gives, if it can be verified; what is printed of it was read again.
fn checked(length: usize, read: impl FnOnce() -> Result<Module, Error>) -> Option<Module> {
    let (module, mistake) = verified(length, read)?;
    reads_back(&module, mistake.as_ref());
    mistake.is_none().then_some(module)
}

/// The program that `read` gives, and why it cannot be verified, if so.
fn verified(length: usize, read: impl FnOnce() -> Result<Module, Error>) -> Option<(Module, Option<Error>)> {
    let module = memory::bounded(length, read).map_err(|error| says_where(&error)).ok()?;
    let mistake = memory::bounded(length, || verify(&module)).err();
    if let Some(error) = &mistake {
        says_where(error);
        assert!(error.op.is_some(), "a mistake of no op: {error}");
    }
    Some((module, mistake))
}

/// What is printed is read as the same program, with the same mistake if it has one.
fn reads_back(module: &Module, mistake: Option<&Error>) {
    let message = |error: Option<&Error>| error.map(|error| (error.op.clone(), error.message.clone()));
    for print in [print_module, print_module_with_locations] {
        let printed = print(module);
        let again = parse_text(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(printed, print(&again), "another program is read of what is printed");
        let found = verify(&again).err();
        assert_eq!(message(mistake), message(found.as_ref()), "what is printed verifies otherwise\n{printed}");
    }
}

/// Errors have a message, and if they are about an op a place. Of a whole function or module, its name says where.
fn says_where(error: &Error) {
    assert!(!error.message.is_empty(), "{error:?}");
    let is_whole = |op: &String| op.starts_with("func.func @") || op.starts_with("builtin.module @");
    let of_whole = error.op.as_ref().is_none_or(is_whole);
    assert!(of_whole || error.location.is_some(), "a mistake nowhere: {error}");
}
