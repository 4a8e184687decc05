//! Memory for the algorithms.
//!
//! They and `faer` allocate as they go, which ends the process where there is no memory. So how much they will need at
//! most is asked for beforehand, in one place: where items are handed out ([`each`](crate::targets)).

use oxcall::{Error, Result};

/// Less than this is always taken to be there.
const ASKED: usize = 1 << 20;

/// Left for everything small.
const HEADROOM: usize = 16 << 20;

/// Checks that `bytes` can be had right now.
///
/// # Errors
/// RESOURCE_EXHAUSTED if they cannot.
pub(crate) fn check(bytes: usize) -> Result<()> {
    if bytes < ASKED {
        return Ok(());
    }
    let mut memory: Vec<u8> = Vec::new();
    let there = memory.try_reserve_exact(bytes.saturating_add(HEADROOM));
    // An allocation that nobody sees need not be made.
    std::hint::black_box(&memory);
    there.map_err(|_| {
        Error::resource_exhausted(format!(
            "out of memory: the algorithm needs up to {bytes} bytes of scratch; delete arrays that are no longer needed, or \
             give the process more memory"
        ))
    })
}

/// The bytes of `times` matrices of `shape`.
pub(crate) fn matrices<T>([rows, cols]: [usize; 2], times: usize) -> usize {
    rows.saturating_mul(cols).saturating_mul(times * size_of::<T>())
}
