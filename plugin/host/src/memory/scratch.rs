//! Scratch memory of kernels.

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use bytemuck::Pod;
use oxcall::Error;

use super::{Allocator, Buffer};

/// Elements in memory of an [`Allocator`], which goes back to it at the end. A `Vec` would end the process where there is
/// no memory.
pub(crate) struct Scratch<T> {
    buffer: Buffer,
    _type: PhantomData<T>,
}

impl<T: Pod> Scratch<T> {
    /// Memory for `len` elements, with unspecified contents.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED when there is no memory.
    pub(crate) fn new(allocator: &Arc<Allocator>, len: usize) -> Result<Scratch<T>, Error> {
        const { assert!(align_of::<T>() <= crate::kernel::BUFFER_ALIGN && size_of::<T>() > 0) };
        let buffer = Buffer::allocate(allocator, len.saturating_mul(size_of::<T>()))?;
        Ok(Scratch { buffer, _type: PhantomData })
    }

    /// Memory for no elements.
    pub(crate) fn empty() -> Scratch<T> {
        Scratch { buffer: Buffer::empty(), _type: PhantomData }
    }
}

impl<T: Pod> Default for Scratch<T> {
    fn default() -> Scratch<T> {
        Scratch::empty()
    }
}

impl<T: Pod> Deref for Scratch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.buffer.as_bytes())
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.buffer.as_bytes_mut())
    }
}
