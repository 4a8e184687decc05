//! Radix sort of unsigned integers.

use oxcall::Error;

use super::key::Bits;
use crate::kernel::Context;
use crate::memory::Scratch;

/// The bits that one pass sorts; a count for each of their values fits the L1 cache.
const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;

/// Fewer items than this are sorted by comparison, which is then faster.
const FEW: usize = 1500;

/// Sorts `items` by the bits from `low` on. Items that are equal in these bits must be in ascending order, or equal, so
/// that comparing the lower bits makes no difference.
pub(super) fn sort<T: Bits>(cx: Context<'_>, items: &mut [T], scratch: &mut Scratch<T>, low: u32) -> Result<(), Error> {
    if items.len() < FEW {
        items.sort_unstable();
        return Ok(());
    }
    if items.is_sorted() {
        return Ok(());
    }
    if scratch.len() != items.len() {
        *scratch = cx.scratch(items.len())?;
    }
    let passes = (T::BITS - low).div_ceil(DIGIT_BITS) as usize;
    let shift = |pass: usize| low + pass as u32 * DIGIT_BITS;
    let mut counts = cx.filled(passes, [0u32; BUCKETS])?;
    for item in items.iter() {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[item.digit(shift(pass), BUCKETS - 1)] += 1;
        }
    }
    let (mut from, mut to) = (&mut *items, &mut scratch[..]);
    let mut moved = false;
    for (pass, counts) in counts.iter_mut().enumerate() {
        // A digit that all items share orders nothing.
        if counts.iter().any(|&count| count as usize == from.len()) {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            (*count, next) = (next, next + *count);
        }
        for item in from.iter() {
            let place = &mut counts[item.digit(shift(pass), BUCKETS - 1)];
            to[*place as usize] = *item;
            *place += 1;
        }
        (from, to) = (to, from);
        moved = !moved;
    }
    if moved {
        // The items are in the scratch memory, which `from` now is.
        to.copy_from_slice(from);
    }
    Ok(())
}

/// Does the same on up to `threads` threads of rayon's current pool. Equal items must be indistinguishable.
pub(super) fn sort_parallel<T: Bits>(cx: Context<'_>, items: &mut [T], low: u32, threads: usize) -> Result<(), Error> {
    if threads < 2 || items.len() < 64 * FEW {
        return sort(cx, items, &mut Scratch::empty(), low);
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    let (left, right) = rayon::join(
        || sort_parallel(cx, left, low, threads / 2),
        || sort_parallel(cx, right, low, threads - threads / 2),
    );
    left.and(right)?;
    let mut scratch = cx.scratch(items.len())?;
    let (left, right) = items.split_at(items.len() / 2);
    merge_parallel(left, right, &mut scratch, threads);
    items.copy_from_slice(&scratch);
    Ok(())
}

fn merge_parallel<T: Bits>(left: &[T], right: &[T], out: &mut [T], threads: usize) {
    if threads < 2 {
        return merge(left, right, out);
    }
    // The half of the result before `left[i]` holds this many items of `right`.
    let half = out.len() / 2;
    let first = half.saturating_sub(right.len());
    let last = half.min(left.len());
    let taken = first + partition_point(last - first, |i| left[first + i] < right[half - first - i - 1]);
    let (low, high) = out.split_at_mut(half);
    rayon::join(
        || merge_parallel(&left[..taken], &right[..half - taken], low, threads / 2),
        || merge_parallel(&left[taken..], &right[half - taken..], high, threads - threads / 2),
    );
}

/// The first of `0..len` for which `before` is false, if it is true up to there and false from there on.
fn partition_point(len: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

fn merge<T: Bits>(mut left: &[T], mut right: &[T], out: &mut [T]) {
    let mut filled = 0;
    while let (Some(&l), Some(&r)) = (left.first(), right.first()) {
        let is_right = r < l;
        out[filled] = if is_right { r } else { l };
        left = &left[usize::from(!is_right)..];
        right = &right[usize::from(is_right)..];
        filled += 1;
    }
    out[filled..filled + left.len()].copy_from_slice(left);
    filled += left.len();
    out[filled..].copy_from_slice(right);
}
