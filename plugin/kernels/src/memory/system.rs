//! Memory of the system: large blocks, checks for free memory, and the reserve for when there is none.
//!
//! Rust aborts the process when an ordinary allocation fails. Large allocations, whose sizes programs and arrays
//! decide, therefore come from the engine's [`Allocator`](super::Allocator), which returns an error. Libraries that
//! allocate by themselves are called after [`room`] has found enough memory for them. Both leave [`HEADROOM`] for all
//! small allocations. A plugin whose global allocator is [`SystemAllocator`] gets back what caches keep, and a reserve,
//! before a small one fails.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};
use std::sync::Weak;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::sync::Mutex;

use oxcall::Error;

use super::allocator::Shared;

/// The memory that every large allocation leaves for small ones: those of Python, of the framework and of this library.
pub(super) const HEADROOM: usize = 32 << 20;

/// The reserve of [`SystemAllocator`] for when the system has no memory left.
const RESERVE: usize = 16 << 20;

/// Larger requests than this are not served from the reserve.
const SMALL: usize = 1 << 20;

/// Blocks of at least this size are mapped, so they return to the system as a whole.
pub(super) const MAPPED: usize = 256 << 10;

/// Mappings of at least this size ask for huge pages, with which large arrays cause fewer faults and misses. Smaller
/// ones would have few of them, if any.
#[cfg(all(target_os = "linux", not(miri)))]
const HUGE: usize = 8 << 20;

/// Zeroed memory of `len` bytes at the start of a page; `None` if there is none.
pub(super) fn map(len: usize) -> Option<NonNull<u8>> {
    #[cfg(unix)]
    {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, at an address that the system chooses.
        let data = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, -1, 0) };
        if data == libc::MAP_FAILED {
            return None;
        }
        #[cfg(all(target_os = "linux", not(miri)))]
        if len >= HUGE {
            // SAFETY: only this call's mapping. A system without huge pages refuses, which changes nothing.
            unsafe { libc::madvise(data, len, libc::MADV_HUGEPAGE) };
        }
        NonNull::new(data.cast())
    }
    #[cfg(not(unix))]
    // SAFETY: `len` is not 0.
    NonNull::new(unsafe { System.alloc_zeroed(Layout::from_size_align(len, PAGE).ok()?) })
}

#[cfg(not(unix))]
const PAGE: usize = 4096;

/// Returns memory of [`map`] to the system.
///
/// # Safety
/// `data` and `len` are those of a call of `map`, whose memory is no longer used.
pub(super) unsafe fn unmap(data: NonNull<u8>, len: usize) {
    #[cfg(unix)]
    // SAFETY: as the caller guarantees. It fails only where there are too many mappings to split one, and this splits
    // none.
    unsafe {
        libc::munmap(data.as_ptr().cast(), len);
    }
    #[cfg(not(unix))]
    // SAFETY: as the caller guarantees.
    unsafe {
        System.dealloc(data.as_ptr(), Layout::from_size_align_unchecked(len, PAGE));
    }
}

/// Whether `len` more bytes are available now. It touches none of them.
pub(super) fn has(len: usize) -> bool {
    // SAFETY: this call made the mapping, and nothing uses it.
    map(len).map(|data| unsafe { unmap(data, len) }).is_some()
}

/// The allocators of the process, for [`give_back`].
static ALLOCATORS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Adds an allocator to those that [`give_back`] asks.
pub(super) fn register(allocator: Weak<Shared>) {
    let mut all = ALLOCATORS.lock();
    all.retain(|each| each.strong_count() > 0);
    all.push(allocator);
}

/// Makes all allocators return the memory that they keep, except those that are locked at the moment.
pub(super) fn give_back() {
    // The allocation that failed may be one under one of these locks.
    let Some(all) = ALLOCATORS.try_lock() else { return };
    all.iter().filter_map(Weak::upgrade).for_each(|allocator| allocator.give_back());
}

/// Smaller requests need no check: [`HEADROOM`] covers them.
const ASKED: usize = 4 << 20;

/// Checks that `len` bytes are available now, before a call of code that cannot report exhausted memory.
///
/// # Errors
/// RESOURCE_EXHAUSTED if they are not.
pub fn room(len: usize) -> Result<(), Error> {
    let wanted = len.saturating_add(HEADROOM);
    if len < ASKED || has(wanted) {
        return Ok(());
    }
    give_back();
    if has(wanted) { Ok(()) } else { Err(exhausted(len, None, "the system has no more memory")) }
}

/// The error for a request of `len` bytes, with the number of live bytes if that is known.
pub(super) fn exhausted(len: usize, live: Option<usize>, why: &str) -> Error {
    let live = live.map_or(String::new(), |live| format!(" ({live} bytes are in use)"));
    let advice = "delete arrays that are no longer needed, or give the process more memory";
    Error::resource_exhausted(format!("Out of memory allocating {len} bytes{live}: {why}; {advice}"))
}

/// The start of the reserve; null if there is none.
static RESERVED: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Ensures that there is a reserve, before work that makes many small allocations.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not enough memory for the reserve.
pub fn reserve() -> Result<(), Error> {
    if !RESERVED.load(Ordering::Relaxed).is_null() {
        return Ok(());
    }
    let reserve = map(RESERVE).or_else(|| {
        give_back();
        map(RESERVE)
    });
    let reserve = reserve.ok_or_else(|| exhausted(RESERVE, None, "the system has no more memory"))?;
    let before = RESERVED.compare_exchange(ptr::null_mut(), reserve.as_ptr(), Ordering::AcqRel, Ordering::Relaxed);
    if before.is_err() {
        // SAFETY: mapped above; another thread was faster, so nothing else refers to it.
        unsafe { unmap(reserve, RESERVE) };
    }
    Ok(())
}

/// Returns the reserve to the system, which can then use it for an allocation. Returns whether there was one.
fn break_reserve() -> bool {
    let reserve = NonNull::new(RESERVED.swap(ptr::null_mut(), Ordering::AcqRel));
    // SAFETY: `reserve` mapped it, and the call that takes the address owns it.
    reserve.map(|reserve| unsafe { unmap(reserve, RESERVE) }).is_some()
}

/// The system's allocator; before it fails, it returns the caches' memory to the system, and then the reserve. So small
/// allocations succeed where large ones have failed with an error. For the library that is the plugin:
///
/// ```ignore
/// #[global_allocator]
/// static MEMORY: oxcall_plugin::SystemAllocator = oxcall_plugin::SystemAllocator;
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemAllocator;

/// Tries again after the caches have returned their memory, and for a small request after the reserve has.
#[cold]
fn again(len: usize, allocate: impl Fn() -> *mut u8) -> *mut u8 {
    give_back();
    let mut data = allocate();
    if data.is_null() && len <= SMALL && break_reserve() {
        data = allocate();
    }
    data
}

// SAFETY: all memory comes from `System`, with the caller's arguments.
unsafe impl GlobalAlloc for SystemAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller guarantees.
        let allocate = || unsafe { System.alloc(layout) };
        let data = allocate();
        if data.is_null() { again(layout.size(), allocate) } else { data }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller guarantees.
        let allocate = || unsafe { System.alloc_zeroed(layout) };
        let data = allocate();
        if data.is_null() { again(layout.size(), allocate) } else { data }
    }

    unsafe fn realloc(&self, data: *mut u8, layout: Layout, len: usize) -> *mut u8 {
        // SAFETY: as the caller guarantees; a call that fails leaves the memory unchanged.
        let allocate = || unsafe { System.realloc(data, layout, len) };
        let moved = allocate();
        if moved.is_null() { again(len, allocate) } else { moved }
    }

    unsafe fn dealloc(&self, data: *mut u8, layout: Layout) {
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(data, layout) }
    }
}
