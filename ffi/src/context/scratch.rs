//! Scratch memory on the device.

use std::ffi::c_void;
use std::marker::PhantomData;

use super::{Context, FromContext};
use crate::{Error, Result};

/// The allocator of device memory that lasts for the call. XLA:CPU has none: a host handler uses `Vec`.
#[derive(Clone, Copy)]
pub struct Scratch<'f> {
    context: Context<'f>,
}

/// Device memory, freed when dropped.
pub struct ScratchBuffer<'f> {
    context: Context<'f>,
    data: *mut c_void,
    size: usize,
    _memory: PhantomData<&'f mut [u8]>,
}

impl<'f> Scratch<'f> {
    /// Allocates `size` bytes at a multiple of `alignment` (hosts give at most 16).
    ///
    /// # Errors
    /// As the host says; `RESOURCE_EXHAUSTED` if it gives no memory and no reason.
    pub fn allocate(&self, size: usize, alignment: usize) -> Result<ScratchBuffer<'f>> {
        let context = self.context;
        let data = context
            .api
            .allocate(context.ctx, size, alignment)
            .map_err(|error| error.context(format_args!("scratch memory of {size} bytes")))?;
        if data.is_null() && size > 0 {
            return Err(Error::resource_exhausted(format!("the host gave no scratch memory of {size} bytes")));
        }
        Ok(ScratchBuffer { context, data, size, _memory: PhantomData })
    }
}

impl ScratchBuffer<'_> {
    /// The device address.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.data
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }
}

impl Drop for ScratchBuffer<'_> {
    fn drop(&mut self) {
        // A failure here cannot be reported to anyone; the host frees what is left after the call.
        // SAFETY: allocated from this context with this size, not used again.
        let _ = unsafe { self.context.api.free(self.context.ctx, self.size, self.data) };
    }
}

impl<'f> FromContext<'f> for Scratch<'f> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        Ok(Scratch { context: *context })
    }
}
