//! Futures, completed after the call.

use xla_ffi_sys::xla_ffi as sys;

use super::{HostApi, Slot};
use crate::{Error, Result};

impl HostApi<'_> {
    /// A future that is not complete.
    ///
    /// # Errors
    /// Also on a host that makes no errors: a failure could then only look like success.
    pub(crate) fn create_future(self) -> Result<*mut sys::XLA_FFI_Future> {
        if self.function(Slot::ErrorCreate).is_none() {
            return Err(self.missing(Slot::ErrorCreate));
        }
        // The constant of this struct says 16 bytes, yet the host writes the field after them.
        let mut args = sys::XLA_FFI_Future_Create_Args {
            struct_size: sys::XLA_FFI_Future_Create_Args_STRUCT_SIZE as usize,
            ..Default::default()
        };
        // SAFETY: the same layout in every version.
        unsafe { self.call(Slot::FutureCreate, &mut args)? };
        if args.future.is_null() {
            return Err(Error::internal("the host returned neither a future nor an error"));
        }
        Ok(args.future)
    }

    /// Completes a future with an error, or with nothing.
    ///
    /// # Errors
    /// The host's error. Without an error object to tell of `error` the future stays open: no failure is a success.
    ///
    /// # Safety
    /// The future came from [`create_future`](Self::create_future) and is not complete; it is not used again.
    pub(crate) unsafe fn complete_future(self, future: *mut sys::XLA_FFI_Future, error: Option<&Error>) -> Result<()> {
        match error.map(|error| self.create_error(error)) {
            Some(error) if error.is_null() => {
                Err(Error::internal("the host made no error object; the call stays open"))
            }
            Some(error) => {
                let mut args = sys::XLA_FFI_Future_SetError_Args {
                    struct_size: sys::XLA_FFI_Future_SetError_Args_STRUCT_SIZE as usize,
                    future,
                    error,
                    ..Default::default()
                };
                // SAFETY: the same layout in every version; the host takes the error over.
                unsafe { self.call(Slot::FutureSetError, &mut args) }
            }
            None => {
                let mut args = sys::XLA_FFI_Future_SetAvailable_Args {
                    struct_size: sys::XLA_FFI_Future_SetAvailable_Args_STRUCT_SIZE as usize,
                    future,
                    ..Default::default()
                };
                // SAFETY: the same layout in every version.
                unsafe { self.call(Slot::FutureSetAvailable, &mut args) }
            }
        }
    }
}
