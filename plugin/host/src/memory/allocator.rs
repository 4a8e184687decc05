//! The caching allocator. Fresh memory of the system costs a page fault every few kilobytes, more than the arithmetic
//! that fills it: so freed blocks are kept, by size class, up to a share of the machine's memory.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    fmt,
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use oxcall::Error;

use super::{
    limit::memory_limit,
    sizes::{CLASSES, class_of, class_size},
};
use crate::kernel::BUFFER_ALIGN;

/// The share of the machine's memory that may be kept unused: one in so many bytes.
const CACHED_SHARE: usize = 4;

/// Gives out memory, and keeps what comes back for the next request. Making one reserves nothing.
pub struct Allocator {
    state: Mutex<State>,
}

struct State {
    /// Unused blocks by class; empty until the first block comes back.
    free: Vec<Vec<Block>>,
    cached: usize,
    live: usize,
    peak: usize,
}

/// How much memory is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes in live buffers.
    pub live: usize,
    /// The most that were ever live at once.
    pub peak: usize,
    /// Bytes kept for later requests.
    pub cached: usize,
    /// Bytes that may be live at once.
    pub limit: usize,
}

/// A block of initialised memory that starts at a multiple of [`BUFFER_ALIGN`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) data: NonNull<u8>,
    class: usize,
}

// SAFETY: a block is an address that its holder owns.
unsafe impl Send for Block {}

/// What the system is asked for: the class and room to align. Up to this alignment zeroed memory comes from `calloc`,
/// which touches no page of a large block.
const SYSTEM_ALIGN: usize = 16;

fn layout(class: usize) -> Option<Layout> {
    Layout::from_size_align(class_size(class).checked_add(BUFFER_ALIGN)?, SYSTEM_ALIGN).ok()
}

/// A new zeroed block.
fn from_system(class: usize) -> Option<Block> {
    // SAFETY: the layout is not empty.
    let start = NonNull::new(unsafe { alloc_zeroed(layout(class)?) })?;
    let gap = BUFFER_ALIGN - start.addr().get() % BUFFER_ALIGN;
    // SAFETY: the gap is between 16 and 64 bytes, as the start is a multiple of 16; so both places are in the
    // allocation.
    unsafe {
        let data = start.add(gap);
        data.sub(1).write(gap as u8);
        Some(Block { data, class })
    }
}

/// # Safety
/// The block came from [`from_system`], and is not used any more.
unsafe fn to_system(block: Block) {
    let layout = layout(block.class).expect("the layout was valid when the block was made");
    // SAFETY: `from_system` left the gap before the block, and allocated with this layout.
    unsafe {
        let gap = usize::from(block.data.sub(1).read());
        dealloc(block.data.sub(gap).as_ptr(), layout);
    }
}

impl State {
    /// Gives unused blocks back to the system, the largest first, until no more than `cap` bytes are kept.
    fn shrink(&mut self, cap: usize) {
        for (class, blocks) in self.free.iter_mut().enumerate().rev() {
            while self.cached > cap {
                let Some(block) = blocks.pop() else { break };
                self.cached -= class_size(class);
                // SAFETY: an unused block of this allocator.
                unsafe { to_system(block) };
            }
        }
    }
}

impl Allocator {
    /// An allocator that holds nothing.
    pub fn new() -> Allocator {
        Allocator { state: Mutex::new(State { free: Vec::new(), cached: 0, live: 0, peak: 0 }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A block of at least `len` bytes, with unspecified but initialised contents.
    pub(super) fn allocate(&self, len: usize) -> Result<Block, Error> {
        let refuse = |live: usize, why: &str| {
            Error::resource_exhausted(format!("Out of memory allocating {len} bytes ({live} bytes are in use): {why}"))
        };
        let mut state = self.lock();
        let Some(class) = class_of(len) else { return Err(refuse(state.live, "no block is that large")) };
        let size = class_size(class);
        let cached = state.free.get_mut(class).and_then(Vec::pop);
        if let Some(block) = cached {
            state.cached -= size;
            state.live += size;
            state.peak = state.peak.max(state.live);
            return Ok(block);
        }
        let limit = memory_limit();
        if state.live.saturating_add(size) > limit {
            return Err(refuse(state.live, &format!("the machine has {limit} bytes")));
        }
        let room = limit - state.live - size;
        state.shrink(room);
        state.live += size;
        state.peak = state.peak.max(state.live);
        // The system may take long to zero memory: others need not wait for that.
        drop(state);
        let block = from_system(class).or_else(|| {
            self.lock().shrink(0);
            from_system(class)
        });
        block.ok_or_else(|| {
            let mut state = self.lock();
            state.live -= size;
            refuse(state.live, "the system has no more")
        })
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// The block came from this allocator, and is not used any more.
    pub(super) unsafe fn free(&self, block: Block) {
        let size = class_size(block.class);
        let mut state = self.lock();
        state.live -= size;
        let cap = memory_limit() / CACHED_SHARE;
        if size > cap {
            drop(state);
            // SAFETY: as the caller guarantees.
            return unsafe { to_system(block) };
        }
        state.shrink(cap - size);
        if state.free.is_empty() {
            state.free.resize_with(CLASSES, Vec::new);
        }
        state.free[block.class].push(block);
        state.cached += size;
    }

    /// How much memory is in use.
    pub fn memory_use(&self) -> MemoryUse {
        let state = self.lock();
        MemoryUse { live: state.live, peak: state.peak, cached: state.cached, limit: memory_limit() }
    }

    /// Gives what is kept back to the system.
    pub fn release_cached(&self) {
        self.lock().shrink(0);
    }
}

impl Default for Allocator {
    fn default() -> Allocator {
        Allocator::new()
    }
}

impl Drop for Allocator {
    fn drop(&mut self) {
        self.release_cached();
    }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.memory_use().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_kept_and_given_out_again() {
        let allocator = Allocator::new();
        let first = allocator.allocate(100_000).unwrap();
        assert_eq!(first.data.addr().get() % BUFFER_ALIGN, 0);
        // SAFETY: a block of this allocator.
        unsafe { allocator.free(first) };
        let again = allocator.allocate(99_000).unwrap();
        assert_eq!(again.data, first.data);
        let other = allocator.allocate(99_000).unwrap();
        assert_ne!(other.data, first.data);
        let used = allocator.memory_use();
        assert!(used.live >= 198_000 && used.cached == 0, "{used:?}");
        // SAFETY: blocks of this allocator.
        unsafe {
            allocator.free(again);
            allocator.free(other);
        }
        assert!(allocator.memory_use().cached >= 198_000);
        allocator.release_cached();
        assert_eq!((allocator.memory_use().cached, allocator.memory_use().live), (0, 0));
    }

    #[test]
    fn too_much_is_an_error_with_sizes() {
        let allocator = Allocator::new();
        for len in [usize::MAX, usize::MAX / 2, 1 << 50] {
            let error = allocator.allocate(len).unwrap_err();
            assert_eq!(error.code(), oxcall::Code::ResourceExhausted);
            assert!(error.message().contains(&format!("Out of memory allocating {len} bytes")), "{error}");
        }
        assert_eq!(allocator.memory_use().live, 0);
    }
}
