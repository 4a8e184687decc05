//! Memory of a call: every piece a block of its own, exactly as large as what points to it says.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr;

/// Bytes before and after a block whose change shows where no sanitizer looks.
const ZONE: usize = if cfg!(feature = "libfuzzer") { 0 } else { 64 };
const CANARY: u8 = 0xCA;

/// Blocks, freed with the heap.
#[derive(Default)]
pub(crate) struct Heap(Vec<Block>);

struct Block {
    data: *mut u8,
    len: usize,
    layout: Layout,
}

impl Heap {
    /// A block of zeros that starts at a multiple of 64; of no length, an address that must not be followed.
    pub(crate) fn bytes(&mut self, len: usize) -> *mut u8 {
        if len == 0 {
            return ptr::without_provenance_mut(64);
        }
        let layout = Layout::from_size_align(len + 2 * ZONE, 64).expect("blocks are small");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc(layout) };
        assert!(!start.is_null(), "out of memory");
        // SAFETY: inside the allocation.
        unsafe {
            start.write_bytes(CANARY, layout.size());
            start.add(ZONE).write_bytes(0, len);
            self.0.push(Block { data: start.add(ZONE), len, layout });
            start.add(ZONE)
        }
    }

    /// A struct of which only the first `claimed` bytes are there; at least its size field is.
    pub(crate) fn claimed<T>(&mut self, value: T, claimed: usize) -> *mut T {
        let len = claimed.clamp(size_of::<usize>(), size_of::<T>());
        let data = self.bytes(len);
        // SAFETY: both have `len` bytes.
        unsafe { ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), data, len) };
        data.cast()
    }

    /// A whole struct.
    pub(crate) fn value<T>(&mut self, value: T) -> *mut T {
        self.claimed(value, size_of::<T>())
    }

    /// An array.
    pub(crate) fn slice<T: Copy>(&mut self, values: &[T]) -> *mut T {
        let data = self.bytes(size_of_val(values)).cast::<T>();
        if !values.is_empty() {
            // SAFETY: fresh memory for as many values.
            unsafe { ptr::copy_nonoverlapping(values.as_ptr(), data, values.len()) };
        }
        data
    }

    /// Whether nobody wrote outside of blocks.
    pub(crate) fn is_intact(&self) -> bool {
        self.0.iter().all(|block| {
            // SAFETY: inside the allocation.
            let zone = |start: *const u8| unsafe { std::slice::from_raw_parts(start, ZONE) };
            let (before, after) = (block.data.wrapping_sub(ZONE), block.data.wrapping_add(block.len));
            zone(before).iter().chain(zone(after)).all(|byte| *byte == CANARY)
        })
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        for block in self.0.drain(..) {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { dealloc(block.data.wrapping_sub(ZONE), block.layout) };
        }
    }
}
