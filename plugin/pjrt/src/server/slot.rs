//! The common frame of all functions of the table.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use xla_ffi_sys::pjrt::PJRT_Error;

use super::error;
use crate::{Error, Result};

/// Defines a function of the table. The body sees `args` as a raw pointer to a copy that has every field of the newest
/// version, zero where the caller has none; the copy goes back only after success. It returns `Result<()>`. After `as`
/// comes the newest layout of a struct that grew; after `at least`, bytes that a caller has even if it says fewer.
macro_rules! slot {
    ($(
        $(#[$doc:meta])*
        fn $name:ident $(<$platform:ident>)? ($args:ident: $ty:ident $(as $later:ident)? $(at least $least:expr)?)
        $body:block
    )*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// `args` is null or points to a struct that begins with its size; its pointers are what the C header says.
            pub(super) unsafe extern "C" fn $name $(<$platform: $crate::Platform>)? (
                args: *mut $ty,
            ) -> *mut ::xla_ffi_sys::pjrt::PJRT_Error {
                // SAFETY: passed on from the caller.
                unsafe {
                    $crate::server::slot::call(
                        stringify!($ty),
                        args.cast(),
                        0 $(+ $least)?,
                        |$args: *mut slot!(@newest $ty $($later)?)| -> $crate::Result<()> { $body },
                    )
                }
            }
        )*
    };
    (@newest $ty:ident) => { $ty };
    (@newest $ty:ident $later:ident) => { $later };
}
pub(super) use slot;

/// Runs the body of a function on a copy of its args; null means success.
///
/// # Safety
/// `args` is null or points to a C struct whose first field is its size in bytes, all of them readable. The args have
/// only numbers, pointers and unions of them. Where the size is below `least`, it has `least` bytes all the same.
pub(super) unsafe fn call<A>(
    name: &str,
    args: *mut A,
    least: usize,
    body: impl FnOnce(*mut A) -> Result<()>,
) -> *mut PJRT_Error {
    error::into_raw(guard(|| {
        if args.is_null() {
            return Err(Error::invalid_argument(format!("{name}: the args are null")));
        }
        // SAFETY: not null, so it begins with its size.
        let size = unsafe { args.cast::<usize>().read() };
        if size < size_of::<usize>() {
            return Err(Error::invalid_argument(format!(
                "Unexpected {name} size: expected at least {}, got {size}. Check installed software versions.",
                size_of::<usize>()
            )));
        }
        let size = size.max(least).min(size_of::<A>());
        let mut copy = MaybeUninit::<A>::zeroed();
        // SAFETY: both sides have `size` bytes.
        unsafe { copy_args(args, copy.as_mut_ptr(), size) };
        body(copy.as_mut_ptr())?;
        // SAFETY: as above; nobody else writes the caller's struct during the call.
        unsafe { copy_args(copy.as_ptr(), args, size) };
        Ok(())
    }))
}

/// Copies the first `size` bytes. Most callers have every field, and a copy of constant length is a few instructions.
///
/// # Safety
/// Both sides have so many bytes, at most the size of `A`, and do not overlap.
#[inline]
unsafe fn copy_args<A>(from: *const A, to: *mut A, size: usize) {
    #[cold]
    unsafe fn part(from: *const u8, to: *mut u8, size: usize) {
        // SAFETY: passed on from the caller.
        unsafe { to.copy_from_nonoverlapping(from, size) };
    }
    let (from, to) = (from.cast::<u8>(), to.cast::<u8>());
    // SAFETY: passed on from the caller.
    unsafe {
        if size == size_of::<A>() {
            to.copy_from_nonoverlapping(from, size_of::<A>());
        } else {
            part(from, to, size);
        }
    }
}

/// Turns panics into errors.
pub(super) fn guard<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "no message".to_owned(),
        };
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        Err(Error::internal(format!("the plugin panicked: {said}")))
    })
}
