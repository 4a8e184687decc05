//! Bytes that a caller gives back with a function that comes beside them.

use std::ffi::c_char;
use std::marker::PhantomData;

use super::raw::{Object, release};

/// Bytes behind an opaque type of the C header.
pub(super) struct Bytes<R> {
    _bytes: Vec<u8>,
    raw: PhantomData<R>,
}

// SAFETY: the opaque types that are used here have no other objects behind them.
unsafe impl<R> Object for Bytes<R> {
    type Raw = R;
}

/// The fields that the args of serializing functions share.
pub(super) struct Serialized<R> {
    pub(super) bytes: *const c_char,
    pub(super) size: usize,
    pub(super) holder: *mut R,
    pub(super) deleter: Option<unsafe extern "C" fn(holder: *mut R)>,
}

impl<R> Serialized<R> {
    pub(super) fn new(bytes: Vec<u8>) -> Serialized<R> {
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        let holder = Bytes { _bytes: bytes, raw: PhantomData::<R> }.into_raw();
        Serialized { bytes: data, size, holder, deleter: Some(delete::<R>) }
    }
}

unsafe extern "C" fn delete<R>(holder: *mut R) {
    // SAFETY: the caller gives back what it got.
    unsafe { release::<Bytes<R>>(holder) };
}
