//! Scratch memory for kernels.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use bytemuck::Pod;
use oxcall::Error;

use super::{Allocator, Buffer};

/// Elements in memory of an [`Allocator`], which gets it back at the end. A `Vec` would end the process where memory
/// runs out.
///
/// The address is kept as one of elements, so inner loops reach them at no cost.
pub struct Scratch<T> {
    data: NonNull<T>,
    len: usize,
    _buffer: Buffer,
}

// SAFETY: it owns its elements, as a `Vec` does.
unsafe impl<T: Send> Send for Scratch<T> {}
// SAFETY: they are shared only as `&[T]`.
unsafe impl<T: Sync> Sync for Scratch<T> {}

impl<T: Pod> Scratch<T> {
    /// Memory for `len` elements, with unspecified contents.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub(crate) fn new(allocator: &Arc<Allocator>, len: usize) -> Result<Scratch<T>, Error> {
        let buffer = Buffer::allocate(allocator, len.saturating_mul(size_of::<T>()))?;
        Ok(Scratch::from_buffer(buffer, len))
    }

    /// Memory for no elements.
    pub(crate) fn empty() -> Scratch<T> {
        Scratch::from_buffer(Buffer::empty(), 0)
    }

    /// The first `len` elements of `buffer`.
    fn from_buffer(mut buffer: Buffer, len: usize) -> Scratch<T> {
        const { assert!(align_of::<T>() <= super::raw::BUFFER_ALIGN && size_of::<T>() > 0) };
        let bytes = buffer.as_bytes_mut();
        assert!(bytes.len() / size_of::<T>() >= len, "memory for {len} elements");
        let data = NonNull::from(bytes).cast();
        Scratch { data, len, _buffer: buffer }
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
        // SAFETY: the buffer, which nothing else reaches, has this many initialised bytes at an address aligned for
        // `T`, as `from_buffer` checked; every bit pattern is a `T`. They are written only through `&mut self`.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T: Pod> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_live_as_long_as_their_memory() {
        let allocator = Arc::new(Allocator::new());
        let mut numbers = Scratch::<u64>::new(&allocator, 100).unwrap();
        numbers.fill(7);
        numbers[99] = 1;
        let moved = std::thread::spawn(move || {
            numbers[0] = 2;
            numbers
        });
        let numbers = moved.join().unwrap();
        assert_eq!((numbers.len(), numbers[0], numbers[1], numbers[99]), (100, 2, 7, 1));
    }

    #[test]
    fn elements_of_several_bytes_are_dense() {
        let allocator = Arc::new(Allocator::new());
        let mut counts = Scratch::<[u32; 3]>::new(&allocator, 5).unwrap();
        counts.iter_mut().zip(0..).for_each(|(counts, i)| *counts = [i, i + 1, i + 2]);
        assert_eq!(bytemuck::cast_slice::<_, u32>(&counts)[..6], [0, 1, 2, 1, 2, 3]);
        assert_eq!(counts.iter().map(|counts| counts[0]).sum::<u32>(), 10);
    }

    #[test]
    fn there_may_be_no_elements() {
        let allocator = Arc::new(Allocator::new());
        assert!(Scratch::<u64>::empty().is_empty());
        assert!(Scratch::<f32>::new(&allocator, 0).unwrap().iter_mut().next().is_none());
        assert!(Scratch::<u64>::new(&allocator, usize::MAX / 2).is_err());
    }
}
