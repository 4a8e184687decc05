//! The caching allocator. Fresh memory of the system costs one page fault for every few kilobytes, more than the
//! arithmetic that fills it. Freed blocks are therefore kept by size class, up to a share of the machine's memory,
//! until they have been idle for a while.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::sync::{Mutex, MutexGuard};

use oxcall::Error;

use super::cache::{self, ALWAYS_KEPT, CacheOptions};
use super::limit::memory_limit;
use super::raw::BUFFER_ALIGN;
use super::sizes::{CLASSES, class_of, class_size};
use super::system::{self, HEADROOM, MAPPED, exhausted};

/// Allocates memory, and keeps freed blocks for later requests. Creating one reserves nothing.
pub struct Allocator {
    shared: Arc<Shared>,
}

/// The state that an allocator shares with the thread that returns idle blocks.
pub(super) struct Shared {
    state: Mutex<State>,
    options: CacheOptions,
}

#[derive(Default)]
struct State {
    /// Unused blocks by class; empty until the first block is freed.
    free: Vec<Kept>,
    cached: usize,
    live: usize,
    peak: usize,
    pool_peak: usize,
    allocations: u64,
    largest: usize,
    /// Whether a thread looks for idle blocks.
    is_watched: bool,
    /// For tests: the number of allocations that succeed before one fails.
    #[cfg(any(test, feature = "testing"))]
    fails_after: Option<usize>,
}

/// The unused blocks of a class; the last one is used first.
#[derive(Default)]
struct Kept {
    blocks: Vec<Block>,
    /// The smallest number of blocks since the last look: as many blocks at the front have been idle since.
    idle: usize,
}

/// Statistics of an allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes in live buffers and scratch.
    pub live: usize,
    /// The largest value of `live` so far, in bytes.
    pub peak: usize,
    /// Bytes kept for later requests.
    pub cached: usize,
    /// The largest sum of live and kept bytes so far.
    pub pool_peak: usize,
    /// The largest number of bytes that may be live at once.
    pub limit: usize,
    /// The number of requests so far.
    pub allocations: u64,
    /// The largest request, in bytes.
    pub largest: usize,
    /// The largest kept block, in bytes.
    pub largest_cached: usize,
}

/// A block of initialised memory, aligned to [`BUFFER_ALIGN`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) data: NonNull<u8>,
    class: usize,
}

// SAFETY: a block is an address that its holder owns.
unsafe impl Send for Block {}

/// The alignment of requests to the system, which leave room to align the block. Up to this alignment zeroed memory
/// comes from `calloc`, which touches no page of a large block.
const SYSTEM_ALIGN: usize = 16;

fn layout(class: usize) -> Option<Layout> {
    Layout::from_size_align(class_size(class).checked_add(BUFFER_ALIGN)?, SYSTEM_ALIGN).ok()
}

/// Allocates a zeroed block. A large one leaves [`HEADROOM`].
fn from_system(class: usize) -> Option<Block> {
    let size = class_size(class);
    if size >= MAPPED {
        let block = Block { data: system::map(size)?, class };
        if !system::has(HEADROOM) {
            // SAFETY: the block is new, and nothing else refers to it.
            unsafe { to_system(block) };
            return None;
        }
        return Some(block);
    }
    // SAFETY: the layout is not empty.
    let start = NonNull::new(unsafe { alloc_zeroed(layout(class)?) })?;
    let gap = BUFFER_ALIGN - start.addr().get() % BUFFER_ALIGN;
    // SAFETY: the gap is between 16 and 64 bytes, because the start is a multiple of 16; so both places are in the
    // allocation.
    unsafe {
        let data = start.add(gap);
        data.sub(1).write(gap as u8);
        Some(Block { data, class })
    }
}

/// # Safety
/// The block came from [`from_system`] and is no longer used.
unsafe fn to_system(block: Block) {
    let size = class_size(block.class);
    if size >= MAPPED {
        // SAFETY: `from_system` mapped it; as the caller guarantees.
        return unsafe { system::unmap(block.data, size) };
    }
    let layout = layout(block.class).expect("the layout was valid when the block was made");
    // SAFETY: `from_system` left the gap before the block, and allocated with this layout.
    unsafe {
        let gap = usize::from(block.data.sub(1).read());
        dealloc(block.data.sub(gap).as_ptr(), layout);
    }
}

impl State {
    fn take(&mut self, class: usize) -> Option<Block> {
        let kept = self.free.get_mut(class)?;
        let block = kept.blocks.pop()?;
        kept.idle = kept.idle.min(kept.blocks.len());
        self.cached -= class_size(class);
        Some(block)
    }

    fn used(&mut self, size: usize) {
        self.live += size;
        self.peak = self.peak.max(self.live);
        self.pool_peak = self.pool_peak.max(self.live + self.cached);
        self.allocations += 1;
        self.largest = self.largest.max(size);
    }

    /// Returns unused blocks to the system, the largest first, until at most `cap` bytes are kept.
    #[inline]
    fn shrink(&mut self, cap: usize) {
        if self.cached > cap {
            self.give_up(cap);
        }
    }

    /// [`shrink`](State::shrink) where there is too much.
    #[cold]
    fn give_up(&mut self, cap: usize) {
        for (class, kept) in self.free.iter_mut().enumerate().rev() {
            while self.cached > cap {
                let Some(block) = kept.blocks.pop() else { break };
                self.cached -= class_size(class);
                // SAFETY: an unused block of this allocator.
                unsafe { to_system(block) };
            }
            kept.idle = kept.idle.min(kept.blocks.len());
        }
    }
}

impl Shared {
    /// Returns the kept blocks to the system, unless the allocator is locked at the moment.
    pub(super) fn give_back(&self) {
        if let Some(mut state) = self.state.try_lock() {
            state.shrink(0);
        }
    }

    /// Returns to the system the blocks that have not been needed since the last call. The result says whether to call
    /// again.
    pub(super) fn give_back_idle(&self) -> bool {
        let mut idle = Vec::new();
        let mut state = self.state.lock();
        let State { free, cached, .. } = &mut *state;
        for (class, kept) in free.iter_mut().enumerate().rev() {
            let surplus = cached.saturating_sub(ALWAYS_KEPT).div_ceil(class_size(class));
            let count = kept.idle.min(surplus);
            *cached -= count * class_size(class);
            idle.extend(kept.blocks.drain(..count));
            kept.idle = kept.blocks.len();
        }
        state.is_watched = state.cached > ALWAYS_KEPT;
        let again = state.is_watched;
        // The system may take long, so this happens outside the lock.
        drop(state);
        // SAFETY: unused blocks of this allocator.
        idle.into_iter().for_each(|block| unsafe { to_system(block) });
        again
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.state.lock().shrink(0);
    }
}

impl Allocator {
    /// An allocator that holds nothing.
    pub fn new() -> Allocator {
        Allocator::with_cache(CacheOptions::default())
    }

    /// An allocator that holds nothing, and keeps as much as `options` allow.
    pub fn with_cache(options: CacheOptions) -> Allocator {
        let shared = Arc::new(Shared { state: Mutex::default(), options });
        system::register(Arc::downgrade(&shared));
        Allocator { shared }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock()
    }

    /// A block of at least `len` bytes, with unspecified but initialised contents.
    pub(super) fn allocate(&self, len: usize) -> Result<Block, Error> {
        let mut state = self.lock();
        let Some(class) = class_of(len) else {
            return Err(exhausted(len, Some(state.live), "it exceeds the largest block"));
        };
        let size = class_size(class);
        #[cfg(any(test, feature = "testing"))]
        if let Some(left) = &mut state.fails_after {
            if *left == 0 {
                return Err(exhausted(len, Some(state.live), "the test says so"));
            }
            *left -= 1;
        }
        if let Some(block) = state.take(class) {
            state.used(size);
            return Ok(block);
        }
        let limit = memory_limit();
        if state.live.saturating_add(size) > limit {
            return Err(exhausted(len, Some(state.live), &format!("the machine has {limit} bytes")));
        }
        let room = limit - state.live - size;
        state.shrink(room);
        state.used(size);
        // The system may take long to zero memory, so this happens outside the lock.
        drop(state);
        let block = from_system(class).or_else(|| {
            system::give_back();
            from_system(class)
        });
        block.ok_or_else(|| {
            let mut state = self.lock();
            state.live -= size;
            exhausted(len, Some(state.live), "the system has no more memory")
        })
    }

    /// Frees a block.
    ///
    /// # Safety
    /// The block came from this allocator and is no longer used.
    pub(super) unsafe fn free(&self, block: Block) {
        let size = class_size(block.class);
        let mut state = self.lock();
        state.live -= size;
        let cap = self.shared.options.limit.bytes();
        if size > cap {
            drop(state);
            // SAFETY: as the caller guarantees.
            return unsafe { to_system(block) };
        }
        state.shrink(cap - size);
        if state.free.is_empty() {
            state.free.resize_with(CLASSES, Kept::default);
        }
        state.free[block.class].blocks.push(block);
        state.cached += size;
        if state.is_watched || state.cached <= ALWAYS_KEPT {
            return;
        }
        if let Some(idle) = self.shared.options.idle {
            state.is_watched = true;
            drop(state);
            if !cache::start(&self.shared, idle) {
                self.lock().is_watched = false;
            }
        }
    }

    /// The current statistics.
    pub fn memory_use(&self) -> MemoryUse {
        let state = self.lock();
        let State { live, peak, cached, pool_peak, allocations, largest, .. } = *state;
        let largest_cached = state.free.iter().rposition(|kept| !kept.blocks.is_empty()).map_or(0, class_size);
        let limit = memory_limit();
        MemoryUse { live, peak, cached, pool_peak, limit, allocations, largest, largest_cached }
    }

    /// Returns the kept blocks to the system.
    #[cfg(test)]
    pub(crate) fn release_cached(&self) {
        self.lock().shrink(0);
    }

    /// Lets the next `count` allocations succeed, and all later ones fail; `None` ends that.
    #[cfg(any(test, feature = "testing"))]
    pub fn fail_after(&self, count: Option<usize>) {
        self.lock().fails_after = count;
    }
}

impl Default for Allocator {
    fn default() -> Allocator {
        Allocator::new()
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
    use crate::memory::CacheLimit;

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

    /// A block of `len` bytes.
    fn block(allocator: &Allocator, len: usize) -> Block {
        allocator.allocate(len).unwrap()
    }

    #[test]
    fn what_is_idle_goes_back_and_what_is_used_stays() {
        let allocator = Allocator::with_cache(CacheOptions { idle: None, ..CacheOptions::default() });
        let [used, idle, small] = [20 << 20, 40 << 20, 1000].map(|len| block(&allocator, len));
        // SAFETY: blocks of this allocator.
        [used, idle, small].into_iter().for_each(|block| unsafe { allocator.free(block) });
        let large = |allocator: &Allocator| allocator.memory_use().largest_cached >= 40 << 20;
        // The first look begins a period.
        assert!(allocator.shared.give_back_idle() && large(&allocator));
        let again = block(&allocator, 20 << 20);
        assert_eq!(again.data, used.data);
        // SAFETY: a block of this allocator.
        unsafe { allocator.free(again) };
        assert!(allocator.shared.give_back_idle() && !large(&allocator));
        let kept = allocator.memory_use();
        assert!((20 << 20..40 << 20).contains(&kept.cached) && kept.pool_peak >= 60 << 20, "{kept:?}");
        // It is no longer needed; a small amount is kept in any case.
        assert!(!allocator.shared.give_back_idle());
        assert!(allocator.memory_use().cached <= ALWAYS_KEPT);
    }

    #[test]
    fn a_thread_gives_back_what_is_idle_and_ends() {
        let idle = std::time::Duration::from_millis(1);
        let allocator = Allocator::with_cache(CacheOptions { idle: Some(idle), ..CacheOptions::default() });
        for _ in 0..3 {
            let large = block(&allocator, 64 << 20);
            // SAFETY: a block of this allocator.
            unsafe { allocator.free(large) };
            while allocator.memory_use().cached > 0 || allocator.lock().is_watched {
                std::thread::sleep(idle);
            }
        }
    }

    #[test]
    fn no_more_is_kept_than_options_say() {
        let of = |bytes| Allocator::with_cache(CacheOptions { limit: CacheLimit::Bytes(bytes), idle: None });
        for (bytes, kept) in [(0, 0), (1 << 20, 0), (3 << 20, 1), (5 << 20, 2)] {
            let allocator = of(bytes);
            let blocks = [0; 3].map(|_| block(&allocator, 2 << 20));
            // SAFETY: blocks of this allocator.
            blocks.into_iter().for_each(|block| unsafe { allocator.free(block) });
            assert_eq!(allocator.memory_use().cached, kept * (2 << 20), "{bytes}");
        }
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
