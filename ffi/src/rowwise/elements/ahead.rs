//! Memory of the next block, fetched while a block is computed.
//!
//! A processor fetches ahead what is read at a steady pace. Operations on blocks read 2 KB and then compute for a
//! microsecond, so each block of a large array would wait for its first lines.

/// The bytes that a processor fetches at once.
const LINE: usize = 64;

/// The next block of each array that a function reads or writes.
pub(super) struct Ahead {
    starts: Vec<*const u8>,
    /// The lines of each.
    lines: usize,
}

impl Ahead {
    pub(super) fn new(arrays: usize) -> Self {
        Ahead { starts: Vec::with_capacity(arrays), lines: 0 }
    }

    /// Blocks of so many bytes that begin here.
    pub(super) fn set(&mut self, blocks: impl Iterator<Item = *const u8>, bytes: usize) {
        self.starts.clear();
        self.starts.extend(blocks);
        self.lines = bytes / LINE;
    }

    /// Fetches one of as many equal parts of each block.
    #[inline]
    pub(super) fn fetch(&self, part: usize, parts: usize) {
        let lines = self.lines * part / parts..self.lines * (part + 1) / parts;
        for start in &self.starts {
            lines.clone().for_each(|line| fetch(start.wrapping_add(line * LINE)));
        }
    }
}

#[inline(always)]
fn fetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which has no effect but on time, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
