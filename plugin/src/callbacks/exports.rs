//! The C symbols by which Python serves callbacks. `ctypes` releases Python's lock while it calls them.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxcall::Error;
use oxcall::host::AlignedBytes;

use super::queue::{RawBytes, queue, set_answering};
use super::{describe, watch};

/// A number for a function, whose name is for messages.
///
/// # Safety
/// `name` is a NUL-terminated string, or null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_callback_add(name: *const c_char) -> u64 {
    // SAFETY: as the caller guarantees.
    let name = if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } };
    quietly(0, || queue().add_function(&name.to_string_lossy()))
}

/// Says that the program which was lowered with a function is not compiled any more; 1 if nobody has the function now.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn oxcall_plugin_callback_drop(function: u64) -> u32 {
    quietly(0, || queue().drop_lowered(function).into())
}

/// Waits for an item, and writes its description. The number of words that it has: if that is more than `capacity`,
/// they are written by the next call that has room; 0 when there will be no more items.
///
/// # Safety
/// `words` points to memory for `capacity` words.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_callback_next(words: *mut i64, capacity: usize) -> usize {
    // SAFETY: as the caller guarantees; they are zeroed first, so that they are initialised.
    let words = unsafe {
        words.write_bytes(0, capacity);
        std::slice::from_raw_parts_mut(words, capacity)
    };
    set_answering(false);
    let count = quietly(0, || queue().next(|item| describe(item, words)).unwrap_or(0));
    set_answering(count > 0);
    count
}

/// Gives back the memory of an operand.
///
/// # Safety
/// `handle` came with a call, and is given back once.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_callback_free(handle: usize) {
    // SAFETY: handles are boxes that were turned into addresses.
    drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<AlignedBytes>(handle)) });
}

/// Answers a call: with the addresses and lengths of the results' elements, or, unless it is null, with an error.
///
/// # Safety
/// `addresses` and `lengths` have `count` entries, of bytes that nobody writes until this returns; `error` is a
/// NUL-terminated string, or null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_callback_finish(
    call: u64,
    addresses: *const *const u8,
    lengths: *const usize,
    count: usize,
    error: *const c_char,
) {
    let answer = if error.is_null() {
        // SAFETY: as the caller guarantees.
        Ok((0..count).map(|index| unsafe { RawBytes::new(*addresses.add(index), *lengths.add(index)) }).collect())
    } else {
        // SAFETY: as the caller guarantees.
        Err(Error::internal(unsafe { CStr::from_ptr(error) }.to_string_lossy()).verbatim())
    };
    quietly((), || queue().finish(call, answer));
    set_answering(false);
}

/// Fails all calls, now and later, and ends the threads that wait for them: Python is about to end. The answer is how
/// many seconds a function may take; infinity if there is no limit.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn oxcall_plugin_callback_close() -> f64 {
    quietly((), || queue().close());
    watch::limit().map_or(f64::INFINITY, |limit| limit.as_secs_f64())
}

/// No panic crosses the C boundary.
fn quietly<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}
