//! The memory that reading takes: an allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What reading and verifying may hold for each byte of the input, and for any input.
const PER_BYTE: usize = 512;
const FOR_ANY: usize = 20 << 20;

/// Counts what each thread holds.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn count(allocated: usize, freed: usize) {
    let held = (HELD.get() + allocated).saturating_sub(freed);
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call is passed on to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls `read`, which may hold so much memory for an input of `length` bytes.
pub(crate) fn bounded<R>(length: usize, read: impl FnOnce() -> R) -> R {
    let before = HELD.get();
    PEAK.set(before);
    let result = read();
    let peak = PEAK.get() - before;
    assert!(peak <= PER_BYTE * length + FOR_ANY, "{peak} bytes of memory for {length} of input");
    result
}
