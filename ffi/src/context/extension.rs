//! Extensions that newer hosts offer.

use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use super::Context;
use crate::{Error, Result};

/// An extension of the host: a struct that starts with `XLA_FFI_Extension`, versioned by the host.
#[derive(Clone, Copy, Debug)]
pub struct Extension<'f> {
    raw: *const sys::XLA_FFI_Extension,
    _call: PhantomData<&'f sys::XLA_FFI_Extension>,
}

impl<'f> Extension<'f> {
    pub(super) fn find(context: &Context<'f>, extension_type: i64) -> Result<Self> {
        let raw = context.api.find_extension(context.ctx, extension_type)?;
        if raw.is_null() {
            return Err(Error::not_found(format!("this host has no XLA FFI extension of type {extension_type}")));
        }
        Ok(Extension { raw, _call: PhantomData })
    }

    /// The extension's major and minor version.
    pub fn version(&self) -> (i32, i32) {
        // SAFETY: non-null extensions start with this struct.
        let id = unsafe { (*self.raw).id };
        (id.major_version, id.minor_version)
    }

    /// The struct's size in bytes.
    pub fn struct_size(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.raw).struct_size }
    }

    /// The struct, to be cast to the extension's own type once version and size are checked.
    pub fn as_ptr(&self) -> *const sys::XLA_FFI_Extension {
        self.raw
    }
}
