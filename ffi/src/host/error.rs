//! `XLA_FFI_Error`: creation, details, destruction.

use std::ffi::{CStr, CString};

use xla_ffi_sys::xla_ffi as sys;

use super::slot::{check_size, guard, slot};
use crate::{Code, Error, Result};

/// The object behind an `XLA_FFI_Error`.
struct Status {
    code: Code,
    message: CString,
}

/// An error as a C object, which the receiver owns.
pub(super) fn into_raw(error: Error) -> *mut sys::XLA_FFI_Error {
    let message = CString::new(error.message()).unwrap_or_else(|_| {
        CString::new(error.message().replace('\0', "\\0")).expect("no NUL is left after replacing them")
    });
    Box::into_raw(Box::new(Status { code: error.code(), message })).cast()
}

/// Takes the error out of a C object, and frees it; `None` for null, which means success.
///
/// # Safety
/// `error` is null, or came from an API table of this module and has not been freed.
pub(crate) unsafe fn take(error: *mut sys::XLA_FFI_Error) -> Option<Error> {
    if error.is_null() {
        return None;
    }
    // SAFETY: every error of these tables is a boxed `Status`.
    let status = unsafe { Box::from_raw(error.cast::<Status>()) };
    Some(Error::new(status.code, status.message.to_string_lossy()))
}

slot! {
    /// `XLA_FFI_Error_Create`. A code that is unknown, or that says `OK`, becomes `UNKNOWN`: no error is a success.
    pub(super) fn create(
        args: sys::XLA_FFI_Error_Create_Args,
        "XLA_FFI_Error_Create",
        sys::XLA_FFI_Error_Create_Args_STRUCT_SIZE
    ) {
        let message = match (*args).message {
            message if message.is_null() => String::new(),
            message => CStr::from_ptr(message).to_string_lossy().into_owned(),
        };
        // The error asked for is returned like one that the function itself meets.
        Err(Error::new(Code::from_code((*args).errc).unwrap_or(Code::Unknown), message))
    }
}

/// Size of `XLA_FFI_Error_GetMessage_Args`, which has no code; later hosts still take it.
const GET_MESSAGE_SIZE: usize = 32;

/// `XLA_FFI_Error_GetMessage` (before API 0.4).
///
/// # Safety
/// `args` is null or points to an args struct that begins with its size, with an error of these tables.
pub(super) unsafe extern "C" fn get_message(args: *mut sys::XLA_FFI_Error_GetDetails_Args) {
    // SAFETY: passed on from the caller.
    let failed = guard(|| unsafe { read(args, false) });
    // SAFETY: made by `guard`. The function cannot report errors: the message is left as it was.
    drop(unsafe { take(failed) });
}

/// `XLA_FFI_Error_GetDetails` (API 0.4 and later): the message, and the code where the struct has room for it.
///
/// # Safety
/// As for [`get_message`].
pub(super) unsafe extern "C" fn get_details(args: *mut sys::XLA_FFI_Error_GetDetails_Args) {
    // SAFETY: passed on from the caller.
    let failed = guard(|| unsafe { read(args, true) });
    // SAFETY: made by `guard`; see `get_message`.
    drop(unsafe { take(failed) });
}

/// # Safety
/// As for [`get_message`].
unsafe fn read(args: *mut sys::XLA_FFI_Error_GetDetails_Args, with_code: bool) -> Result<()> {
    // SAFETY: the caller of the C function guarantees what the check needs.
    unsafe { check_size("XLA_FFI_Error_GetDetails", GET_MESSAGE_SIZE, args.cast()) }?;
    // SAFETY: the struct has the message, and its error is a `Status`; the code is written only where there is room.
    unsafe {
        let status = (*args).error.cast::<Status>().as_ref().ok_or_else(|| Error::invalid_argument("no error"))?;
        (*args).message = status.message.as_ptr();
        if with_code && (*args).struct_size >= sys::XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE as usize {
            (*args).errc = status.code as sys::XLA_FFI_Error_Code;
        }
    }
    Ok(())
}

/// `XLA_FFI_Error_Destroy`.
///
/// # Safety
/// `args` is null or points to an args struct that begins with its size, with an error of these tables that is not
/// used any more.
pub(super) unsafe extern "C" fn destroy(args: *mut sys::XLA_FFI_Error_Destroy_Args) {
    let failed = guard(|| {
        let min = sys::XLA_FFI_Error_Destroy_Args_STRUCT_SIZE as usize;
        // SAFETY: the caller of the C function guarantees what the check needs.
        unsafe { check_size("XLA_FFI_Error_Destroy", min, args.cast()) }?;
        // SAFETY: the caller gives the error up.
        drop(unsafe { take((*args).error) });
        Ok(())
    });
    // SAFETY: made by `guard`; the function cannot report errors.
    drop(unsafe { take(failed) });
}
