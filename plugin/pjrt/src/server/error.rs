//! `PJRT_Error`.

use std::ffi::{c_char, c_void};

use xla_ffi_sys::pjrt::{
    PJRT_Error, PJRT_Error_Code, PJRT_Error_Code_OK, PJRT_Error_Destroy_Args, PJRT_Error_GetCode_Args,
    PJRT_Error_Message_Args,
};
use xla_ffi_sys::pjrt_later::{
    PJRT_Error_ForEachPayload_Args, PJRT_Error_FunctionTable, PJRT_Error_FunctionTable_STRUCT_SIZE,
    PJRT_Error_PayloadVisitor,
};

use super::raw::{Object, object, release};
use crate::{Code, Error, Result};

/// An error of a caller. Its first word is a function table, as newer versions of the API expect.
#[repr(C)]
struct ErrorObject {
    vtable: *const PJRT_Error_FunctionTable,
    error: Error,
}

// SAFETY: errors are made by `into_raw` only.
unsafe impl Object for ErrorObject {
    type Raw = PJRT_Error;
}

const VTABLE: &PJRT_Error_FunctionTable = &PJRT_Error_FunctionTable {
    struct_size: PJRT_Error_FunctionTable_STRUCT_SIZE,
    instance_size: size_of::<ErrorObject>(),
    extension_start: std::ptr::null_mut(),
    destroy: Some(vtable_destroy),
    message: Some(vtable_message),
    get_code: Some(vtable_get_code),
    for_each_payload: Some(vtable_for_each_payload),
};

/// The pointer that a function returns.
pub(super) fn into_raw(outcome: Result<()>) -> *mut PJRT_Error {
    match outcome {
        Ok(()) => std::ptr::null_mut(),
        Err(error) => ErrorObject { vtable: VTABLE, error }.into_raw(),
    }
}

/// The error of a code and a message that a caller gives; `Ok` for the code `OK`.
pub(super) fn outcome(code: PJRT_Error_Code, message: &str) -> Result<()> {
    match code {
        PJRT_Error_Code_OK => Ok(()),
        code => Err(Error::new(Code::from_code(code).unwrap_or(Code::Unknown), message)),
    }
}

/// `PJRT_Error_Destroy`.
///
/// # Safety
/// `args` is null or points to the function's struct with an error of this plugin, or null.
pub(super) unsafe extern "C" fn destroy(args: *mut PJRT_Error_Destroy_Args) {
    // SAFETY: by the contract above.
    unsafe {
        if let Some(args) = args.as_ref() {
            release::<ErrorObject>(args.error);
        }
    }
}

/// `PJRT_Error_Message`.
///
/// # Safety
/// As for [`destroy`].
pub(super) unsafe extern "C" fn message(args: *mut PJRT_Error_Message_Args) {
    // SAFETY: by the contract above; the struct has not changed since the first version.
    unsafe {
        if !args.is_null() {
            vtable_message((*args).error, &raw mut (*args).message, &raw mut (*args).message_size);
        }
    }
}

/// `PJRT_Error_GetCode`. It never fails: callers ask for the code of its error.
///
/// # Safety
/// As for [`destroy`].
pub(super) unsafe extern "C" fn get_code(args: *mut PJRT_Error_GetCode_Args) -> *mut PJRT_Error {
    // SAFETY: by the contract above; the struct has not changed since the first version.
    unsafe {
        if !args.is_null() {
            (*args).code = vtable_get_code((*args).error);
        }
    }
    std::ptr::null_mut()
}

/// `PJRT_Error_ForEachPayload`: there are none. It never fails: callers ask for the payloads of its error.
///
/// # Safety
/// None.
pub(super) unsafe extern "C" fn for_each_payload(_: *mut PJRT_Error_ForEachPayload_Args) -> *mut PJRT_Error {
    std::ptr::null_mut()
}

unsafe extern "C" fn vtable_destroy(error: *mut PJRT_Error) {
    // SAFETY: the caller gives an error of this plugin, or null.
    unsafe { release::<ErrorObject>(error) };
}

unsafe extern "C" fn vtable_message(error: *const PJRT_Error, message: *mut *const c_char, size: *mut usize) {
    // SAFETY: as above; the caller gives places for both results.
    unsafe {
        let text = object::<ErrorObject>("error", error).map_or("", |object| object.error.message());
        *message = text.as_ptr().cast();
        *size = text.len();
    }
}

unsafe extern "C" fn vtable_get_code(error: *const PJRT_Error) -> PJRT_Error_Code {
    // SAFETY: as above.
    let object = unsafe { object::<ErrorObject>("error", error) };
    object.map_or(PJRT_Error_Code_OK, |object| object.error.code() as PJRT_Error_Code)
}

unsafe extern "C" fn vtable_for_each_payload(_: *const PJRT_Error, _: PJRT_Error_PayloadVisitor, _: *mut c_void) {}
