//! Error objects of the host.

use std::ffi::CStr;

use xla_ffi_sys::xla_ffi as sys;

use super::{HostApi, Slot};
use crate::{Code, Error, Result};

impl HostApi<'_> {
    /// An error object of the host; null only if the host has no function to make one.
    #[cold]
    pub(crate) fn create_error(self, error: &Error) -> *mut sys::XLA_FFI_Error {
        let message = c_message(error.message());
        let mut args = sys::XLA_FFI_Error_Create_Args {
            struct_size: sys::XLA_FFI_Error_Create_Args_STRUCT_SIZE as usize,
            message: message.as_ptr(),
            errc: error.code() as sys::XLA_FFI_Error_Code,
            ..Default::default()
        };
        match self.function(Slot::ErrorCreate) {
            // SAFETY: the arguments are whole; the host copies the message.
            Some(function) => unsafe { function((&raw mut args).cast()) },
            None => std::ptr::null_mut(),
        }
    }

    /// Takes over an error object of the host: `Ok` for null.
    #[inline]
    pub(crate) fn take(self, error: *mut sys::XLA_FFI_Error) -> Result<()> {
        if error.is_null() { Ok(()) } else { Err(self.take_error(error)) }
    }

    #[cold]
    fn take_error(self, error: *mut sys::XLA_FFI_Error) -> Error {
        // Before API 0.4 the struct ends after the message (size 32) and has no code.
        let with_code = self.minor() >= 4;
        let mut details = sys::XLA_FFI_Error_GetDetails_Args {
            struct_size: if with_code { sys::XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE as usize } else { 32 },
            error,
            ..Default::default()
        };
        let mut message = String::from("the host reported an error without a message");
        // SAFETY: every table has the functions about errors.
        let (get_details, destroy_error) =
            unsafe { ((*self.raw).XLA_FFI_Error_GetDetails, (*self.raw).XLA_FFI_Error_Destroy) };
        if let Some(function) = get_details {
            // SAFETY: the arguments are whole.
            unsafe { function(&raw mut details) };
            if !details.message.is_null() {
                // SAFETY: a C string that lives as long as the error.
                message = unsafe { CStr::from_ptr(details.message) }.to_string_lossy().into_owned();
            }
        }
        let mut destroy = sys::XLA_FFI_Error_Destroy_Args {
            struct_size: sys::XLA_FFI_Error_Destroy_Args_STRUCT_SIZE as usize,
            error,
            ..Default::default()
        };
        if let Some(function) = destroy_error {
            // SAFETY: the error is ours to destroy, and not used again.
            unsafe { function(&raw mut destroy) };
        }
        let code = if with_code { Code::from_code(details.errc) } else { None };
        Error::new(code.unwrap_or(Code::Internal), message)
    }
}

/// A message as a C string: embedded NULs are shown as `\0`.
fn c_message(message: &str) -> std::ffi::CString {
    std::ffi::CString::new(message.replace('\0', "\\0")).unwrap_or_default()
}
