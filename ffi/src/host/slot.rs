//! The common frame of all functions of the API table.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use xla_ffi_sys::xla_ffi as sys;

use super::InvokeContext;
use super::error::into_raw;
use crate::{Error, Result};

/// Defines a function of the API table: it checks the size of the args struct as XLA does, runs the body, which
/// returns `Result<()>`, and turns errors and panics into an `XLA_FFI_Error`.
///
/// The body sees `args` as a raw pointer, since callers may pass less memory than the newest struct has.
macro_rules! slot {
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident $(<const $version:ident>)? ($args:ident: $ty:ty, $label:expr, $min:expr) $body:block
    ) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `args` is null or points to an args struct that begins with its size.
        $vis unsafe extern "C" fn $name $(<const $version: u8>)? (
            $args: *mut $ty,
        ) -> *mut ::xla_ffi_sys::xla_ffi::XLA_FFI_Error {
            $crate::host::slot::guard(|| {
                // SAFETY: the caller of the C function guarantees what the check needs.
                unsafe { $crate::host::slot::check_size($label, $min as usize, $args.cast()) }?;
                // SAFETY: the struct has at least `$min` bytes, and the caller filled it.
                unsafe { $body }
            })
        }
    };
}
pub(super) use slot;

/// Checks that `args` is not null, and that the struct is at least `min` bytes long.
///
/// # Safety
/// `args` is null or points to a struct whose first field is its size.
pub(super) unsafe fn check_size(name: &str, min: usize, args: *const usize) -> Result<()> {
    if args.is_null() {
        return Err(Error::invalid_argument(format!("{name}: the args struct is null")));
    }
    // SAFETY: not null, so it begins with its size.
    let size = unsafe { args.read() };
    if size < min {
        return Err(Error::invalid_argument(format!(
            "Unexpected {name} size: expected {min}, got {size}. Check installed software versions."
        )));
    }
    Ok(())
}

/// Runs the body of an API function; null means success.
pub(super) fn guard(body: impl FnOnce() -> Result<()>) -> *mut sys::XLA_FFI_Error {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(error)) => into_raw(error),
        Err(payload) => into_raw(Error::internal(format!("the host panicked: {}", panic_message(payload)))),
    }
}

/// The message of a panic. Dropping its payload may panic again: that second payload is leaked.
pub(super) fn panic_message(payload: Box<dyn Any + Send>) -> String {
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a message".to_owned(),
    };
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    message
}

/// The context behind the opaque pointer of an args struct.
///
/// # Safety
/// `ctx` is null, or the pointer that [`call`](super::call()) put into the call frame, during that call.
pub(super) unsafe fn context<'a>(ctx: *mut sys::XLA_FFI_InvokeContext) -> Result<&'a InvokeContext> {
    // SAFETY: by the contract above it points to an `InvokeContext` that outlives the call.
    unsafe { ctx.cast::<InvokeContext>().as_ref() }
        .ok_or_else(|| Error::invalid_argument("XLA FFI context is not available: it is null"))
}

/// The text of a span; empty where it is null.
///
/// # Safety
/// The span points to as many bytes as it says.
pub(super) unsafe fn text(what: &str, span: sys::XLA_FFI_ByteSpan) -> Result<String> {
    if span.ptr.is_null() {
        return Ok(String::new());
    }
    // SAFETY: by the contract above.
    let bytes = unsafe { std::slice::from_raw_parts(span.ptr.cast::<u8>(), span.len) };
    String::from_utf8(bytes.to_vec()).map_err(|_| Error::invalid_argument(format!("{what} is not valid UTF-8")))
}
