//! Owned memory with the alignment that XLA gives buffers.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::{fmt, slice};

use crate::DType;
use crate::element::Element;

/// The alignment of buffers that XLA allocates, in bytes.
pub const BUFFER_ALIGN: usize = 64;

/// Owned bytes that begin on a 64-byte boundary. Its address is real, and not null, even where it is empty.
pub struct AlignedBytes {
    data: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is owned, and shared only as `&[u8]`.
unsafe impl Send for AlignedBytes {}
// SAFETY: as above.
unsafe impl Sync for AlignedBytes {}

impl AlignedBytes {
    /// `len` bytes of value `fill`.
    ///
    /// # Panics
    /// If `len` exceeds the address space.
    pub fn filled(len: usize, fill: u8) -> AlignedBytes {
        let layout = layout(len);
        // SAFETY: the layout is not empty.
        let Some(data) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        // SAFETY: `data` points to at least `len` fresh bytes.
        unsafe { data.as_ptr().write_bytes(fill, len) };
        AlignedBytes { data, len }
    }

    /// `values` in XLA's layout of their dtype, packed where the dtype is.
    pub fn encode<T: Element>(values: impl ExactSizeIterator<Item = T>) -> AlignedBytes {
        let count = values.len();
        let len = T::DTYPE.size_in_bytes(count).expect("the values fit the address space");
        let mut bytes = AlignedBytes::filled(len, 0);
        for (index, value) in values.take(count).enumerate() {
            // SAFETY: the memory is aligned to 64, is exclusively ours, and holds `count` elements of the dtype.
            unsafe { T::store(bytes.as_mut_ptr(), index, value) };
        }
        bytes
    }

    /// The first byte's address.
    pub fn as_ptr(&self) -> *const u8 {
        self.data.as_ptr()
    }

    /// The first byte's address.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl std::ops::Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes are owned.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl std::ops::DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` initialised bytes are owned, and borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

impl Clone for AlignedBytes {
    fn clone(&self) -> AlignedBytes {
        let mut copy = AlignedBytes::filled(self.len, 0);
        copy.copy_from_slice(self);
        copy
    }
}

impl PartialEq for AlignedBytes {
    fn eq(&self, other: &AlignedBytes) -> bool {
        **self == **other
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Drop for AlignedBytes {
    fn drop(&mut self) {
        // SAFETY: allocated in `filled` with the same layout, freed once.
        unsafe { dealloc(self.data.as_ptr(), layout(self.len)) };
    }
}

/// At least one boundary's worth, so that empty buffers have an address of their own.
fn layout(len: usize) -> Layout {
    Layout::from_size_align(len.max(BUFFER_ALIGN), BUFFER_ALIGN).expect("the buffer fits the address space")
}

/// Bytes of an array of `dtype` with `dims`; `None` for negative dimensions and on overflow.
pub(crate) fn array_bytes(dtype: DType, dims: &[i64]) -> Option<usize> {
    let count = dims.iter().try_fold(1usize, |count, &dim| count.checked_mul(usize::try_from(dim).ok()?))?;
    dtype.size_in_bytes(count)
}
