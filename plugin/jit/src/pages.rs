//! Executable memory: pages that are written first and executed later, never both.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use crate::listing::{Listing, Mark};

/// The size of a page on the processors that code is generated for.
const PAGE: usize = 4096;

/// The size of a mapping, from which codes take pages.
const MAPPING: usize = 64 * PAGE;

/// Runs of free pages, which are writable: their addresses and numbers of pages.
static FREE: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// Code in memory that can be executed and not written.
#[derive(Debug)]
pub(crate) struct Code {
    start: NonNull<u8>,
    pages: usize,
    /// The number of bytes before the unused rest of the last page.
    used: usize,
}

// SAFETY: the pages belong to this value, and nothing writes them while it is alive.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// A copy of `bytes` that can be executed; `None` if there is no memory, or the system does not allow it.
    pub(crate) fn new(bytes: &[u8]) -> Option<Code> {
        let pages = bytes.len().div_ceil(PAGE).max(1);
        let start = take(pages)?;
        let code = Code { start, pages, used: bytes.len() };
        // SAFETY: the pages are writable, belong to this value, and are at least as long as `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start.as_ptr(), bytes.len()) };
        // On failure the pages stay writable, and dropping the value gives them back.
        protect(start, pages, libc::PROT_READ | libc::PROT_EXEC).then_some(code)
    }

    /// The size of its pages.
    pub(crate) fn bytes(&self) -> usize {
        self.pages * PAGE
    }

    /// The bytes, with these labels.
    pub(crate) fn listing<'a>(&'a self, marks: &'a [Mark]) -> Listing<'a> {
        // SAFETY: so many bytes were written there; the pages can be read, and nothing writes them while this value is
        // alive.
        let bytes = unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.used) };
        Listing { address: self.start.as_ptr().addr(), bytes, marks }
    }

    /// The address of the first instruction.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // Pages that cannot become writable are not used again.
        if protect(self.start, self.pages, libc::PROT_READ | libc::PROT_WRITE) {
            give_back(self.start.as_ptr() as usize, self.pages);
        }
    }
}

/// Changes the protection of pages; whether the system allowed it.
fn protect(start: NonNull<u8>, pages: usize, protection: libc::c_int) -> bool {
    // SAFETY: the pages are part of a mapping of this module, and belong to the caller.
    unsafe { libc::mprotect(start.as_ptr().cast(), pages * PAGE, protection) == 0 }
}

/// Writable pages.
fn take(pages: usize) -> Option<NonNull<u8>> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    if !free.iter().any(|&(_, count)| count >= pages) {
        let size = (pages * PAGE).next_multiple_of(MAPPING);
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: asks for new memory at an address of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        free.push((start as usize, size / PAGE));
    }
    let run = free.iter_mut().find(|(_, count)| *count >= pages)?;
    let start = run.0;
    *run = (run.0 + pages * PAGE, run.1 - pages);
    free.retain(|&(_, count)| count > 0);
    NonNull::new(std::ptr::with_exposed_provenance_mut(start))
}

/// Returns pages, and joins them with free neighbours.
fn give_back(start: usize, pages: usize) {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    free.push((start, pages));
    free.sort_unstable();
    free.dedup_by(|next, run| {
        let follows = run.0 + run.1 * PAGE == next.0;
        if follows {
            run.1 += next.1;
        }
        follows
    });
}
