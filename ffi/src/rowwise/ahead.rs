//! Memory of the next block or row, fetched while one is computed.
//!
//! A processor fetches ahead what is read at a steady pace. Operations on blocks read 2 KB and then compute for a
//! microsecond, so each block of a large array would wait for its first lines; so would each row, which is read once
//! and then computed in the first cache.

use std::ops::Range;

/// The bytes that a processor fetches at once.
const LINE: usize = 64;

/// The bytes of arrays that may be in a core's own cache.
pub(in crate::rowwise) const CACHED: usize = 1 << 20;

/// The next block or row of each array that a function reads or writes.
pub(in crate::rowwise) struct Ahead {
    starts: Vec<*const u8>,
    /// The lines of each that are not fetched yet, and how many make a part.
    lines: Range<usize>,
    each: usize,
}

impl Ahead {
    pub(in crate::rowwise) fn new(arrays: usize) -> Self {
        Ahead { starts: Vec::with_capacity(arrays), lines: 0..0, each: 0 }
    }

    /// Blocks of so many bytes that begin here, which are fetched in so many parts.
    pub(in crate::rowwise) fn set(&mut self, blocks: impl Iterator<Item = *const u8>, bytes: usize, parts: usize) {
        self.starts.clear();
        self.starts.extend(blocks);
        self.lines = 0..bytes / LINE;
        self.each = (bytes / LINE).div_ceil(parts.max(1));
    }

    /// Fetches the next part of each block.
    #[inline]
    pub(in crate::rowwise) fn fetch(&mut self) {
        let end = self.lines.end.min(self.lines.start + self.each);
        for start in &self.starts {
            (self.lines.start..end).for_each(|line| fetch(start.wrapping_add(line * LINE)));
        }
        self.lines.start = end;
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
