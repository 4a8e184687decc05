//! A stable merge sort for any comparator, even an inconsistent one.

use oxcall::Error;

use crate::kernel::Context;

/// The length of the runs that are first sorted by insertion.
const RUN: usize = 8;

/// Sorts positions by `less`. If `less` is not a strict weak order, the result is some permutation.
pub(super) fn sort(
    cx: Context<'_>,
    positions: &mut [u32],
    mut less: impl FnMut(u32, u32) -> bool,
) -> Result<(), Error> {
    for run in positions.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && less(run[at], run[at - 1]) {
                run.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    let mut merged = cx.scratch::<u32>(positions.len())?;
    let mut width = RUN;
    while width < positions.len() {
        for (pair, out) in positions.chunks(2 * width).zip(merged.chunks_mut(2 * width)) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(left, right, out, &mut less);
        }
        positions.copy_from_slice(&merged);
        width *= 2;
    }
    Ok(())
}

fn merge<'a>(mut left: &'a [u32], mut right: &'a [u32], out: &mut [u32], less: &mut impl FnMut(u32, u32) -> bool) {
    for to in out {
        let from = match (left.first(), right.first()) {
            (Some(&l), Some(&r)) if less(r, l) => &mut right,
            (Some(_), _) => &mut left,
            (None, _) => &mut right,
        };
        *to = from[0];
        *from = &from[1..];
    }
}
