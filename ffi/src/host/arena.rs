//! Memory whose addresses survive moves of its owner.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

/// A bump allocator of plain C data. Each value lives, at the same address, until the arena is dropped.
///
/// The memory is held by pointer, not in a `Box`: moving a `Box` would end the validity of pointers into it.
#[derive(Default)]
pub(crate) struct Arena {
    chunks: Vec<(NonNull<u8>, Layout)>,
    /// Bytes used of the last chunk.
    used: usize,
}

/// Chunks start on the boundary that XLA gives buffers.
const CHUNK_ALIGN: usize = 64;
const FIRST_CHUNK: usize = 1024;

// SAFETY: the arena owns its chunks and hands out raw pointers only; sharing it gives no access to them.
unsafe impl Send for Arena {}
// SAFETY: as above; every method that allocates takes `&mut self`.
unsafe impl Sync for Arena {}

impl Arena {
    /// Uninitialised memory; `align` is a power of two, at most 64.
    fn allocate(&mut self, size: usize, align: usize) -> *mut u8 {
        debug_assert!(align.is_power_of_two() && align <= CHUNK_ALIGN);
        if let Some(&(chunk, layout)) = self.chunks.last() {
            let start = self.used.next_multiple_of(align);
            if start + size <= layout.size() {
                self.used = start + size;
                // SAFETY: `start` is inside the chunk.
                return unsafe { chunk.as_ptr().add(start) };
            }
        }
        let last = self.chunks.last().map_or(FIRST_CHUNK / 2, |(_, layout)| layout.size());
        let size_of_chunk = size.max(last.saturating_mul(2));
        let layout = Layout::from_size_align(size_of_chunk, CHUNK_ALIGN).expect("the data fits the address space");
        // SAFETY: the layout is not empty: its size is at least `FIRST_CHUNK`.
        let Some(chunk) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        self.chunks.push((chunk, layout));
        self.used = size;
        chunk.as_ptr()
    }

    /// A copy of `value`.
    pub(super) fn value<T: Copy>(&mut self, value: T) -> *mut T {
        let slot = self.allocate(size_of::<T>(), align_of::<T>()).cast::<T>();
        // SAFETY: `slot` is fresh memory of the size and alignment of `T`.
        unsafe { slot.write(value) };
        slot
    }

    /// A copy of `values`; null when there are none, as an empty `std::vector` has it in XLA.
    pub(super) fn slice<T: Copy>(&mut self, values: &[T]) -> *mut T {
        self.slice_aligned(values, align_of::<T>())
    }

    /// [`slice`](Arena::slice) with a larger alignment.
    pub(super) fn slice_aligned<T: Copy>(&mut self, values: &[T], align: usize) -> *mut T {
        if values.is_empty() {
            return ptr::null_mut();
        }
        let slot = self.allocate(size_of_val(values), align.max(align_of::<T>())).cast::<T>();
        // SAFETY: `slot` is fresh memory for as many values.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), slot, values.len()) };
        slot
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for (chunk, layout) in self.chunks.drain(..) {
            // SAFETY: the chunk was allocated with this layout, and is freed once.
            unsafe { dealloc(chunk.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_moves_and_growth() {
        let mut arena = Arena::default();
        let first = arena.slice(&[1i64, 2, 3]);
        let byte = arena.value(7u8);
        let big = arena.slice_aligned(&[5u8; 5000], 64);
        let moved = vec![arena];
        // SAFETY: the arena is alive.
        unsafe {
            assert_eq!(std::slice::from_raw_parts(first, 3), [1, 2, 3]);
            assert_eq!(*byte, 7);
            assert_eq!(*big.add(4999), 5);
        }
        assert_eq!(big.addr() % 64, 0);
        drop(moved);
        assert!(Arena::default().slice::<i64>(&[]).is_null());
    }
}
