//! Radix sort of unsigned integers.

use std::ops::Range;

use oxcall::Error;

use super::key::Bits;
use super::partition::{Threads, partition};
use crate::kernel::Context;
use crate::memory::Scratch;

/// The most bits that one pass sorts; a count for each of their values fits the L1 cache.
pub(super) const DIGIT_BITS: u32 = 11;
pub(super) const BUCKETS: usize = 1 << DIGIT_BITS;

/// Fewer items than this are sorted by comparison, which is then faster.
const FEW: usize = 1500;

/// Fewer items than this that share a digit are sorted by comparison: only the bits below the digit are left to sort.
const FEW_OF_A_DIGIT: usize = 48;

/// The bits that one pass sorts of fewer items than two for each count, whose counts take less time to add up: three
/// passes for the 21 bits below the highest digit of 32.
const FEW_BITS: u32 = 7;

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
    let bits = low..T::BITS;
    let mut counts = counts(cx, &bits, DIGIT_BITS)?;
    if by_digits(items, scratch, bits, DIGIT_BITS, &mut counts) {
        items.copy_from_slice(scratch);
    }
    Ok(())
}

/// Counts of digits for as many passes as `bits` take.
fn counts(cx: Context<'_>, bits: &Range<u32>, digit: u32) -> Result<Scratch<[u32; BUCKETS]>, Error> {
    cx.scratch(bits.len().div_ceil(digit as usize))
}

/// Sorts by some bits, the lowest digit first. Returns whether the sorted items are in `to`, and not in `from`.
fn by_digits<T: Bits>(
    from: &mut [T],
    to: &mut [T],
    bits: Range<u32>,
    digit: u32,
    counts: &mut [[u32; BUCKETS]],
) -> bool {
    let buckets = 1 << digit;
    let shifts = bits.step_by(digit as usize);
    for (shift, counts) in shifts.clone().zip(&mut *counts) {
        let counts = &mut counts[..buckets];
        counts.fill(0);
        from.iter().for_each(|item| counts[item.digit(shift, buckets - 1)] += 1);
    }
    let (mut from, mut to) = (from, to);
    let mut moved = false;
    for (shift, counts) in shifts.zip(counts) {
        // A digit that all items share orders nothing.
        if counts[..buckets].iter().any(|&count| count as usize == from.len()) {
            continue;
        }
        let mut next = 0;
        for count in &mut counts[..buckets] {
            (*count, next) = (next, next + *count);
        }
        for item in from.iter() {
            let place = &mut counts[item.digit(shift, buckets - 1)];
            to[*place as usize] = *item;
            *place += 1;
        }
        (from, to) = (to, from);
        moved = !moved;
    }
    moved
}

/// Does the same as [`sort`] on several threads: divides the items by the highest digit in which they differ, and sorts
/// those of each digit.
pub(super) fn sort_parallel<T: Bits>(
    cx: Context<'_>,
    items: &mut [T],
    scratch: &mut Scratch<T>,
    low: u32,
    threads: Threads,
) -> Result<(), Error> {
    if threads.count < 2 || items.len() < 64 * FEW {
        return sort(cx, items, scratch, low);
    }
    if items.is_sorted() {
        return Ok(());
    }
    *scratch = cx.scratch(items.len())?;
    let mut shift = T::BITS;
    let ends = loop {
        if shift == low {
            // All items are equal in these bits.
            return Ok(());
        }
        // Where fewer bits are left than a digit has, those above are equal.
        shift = shift.saturating_sub(DIGIT_BITS).max(low);
        if let Some(ends) = partition(cx, items, scratch, shift, threads)? {
            break ends;
        }
    };
    // More tasks than threads, since items of some digits take longer than others.
    let least = items.len() / (8 * threads.count);
    let mut tasks = Vec::with_capacity(8 * threads.count); // Bounded: threads.
    let (mut from, mut to, mut ends, mut start) = (&mut scratch[..], items, &ends[..], 0);
    while !ends.is_empty() {
        let digits = ends.iter().position(|&end| end as usize - start >= least).map_or(ends.len(), |last| last + 1);
        let (own, rest) = ends.split_at(digits);
        let count = own[digits - 1] as usize - start;
        let (own_from, rest_from) = from.split_at_mut(count);
        let (own_to, rest_to) = to.split_at_mut(count);
        tasks.push((own_from, own_to, own, start));
        (from, to, ends, start) = (rest_from, rest_to, rest, start + count);
    }
    cx.pool
        .for_each(threads.cost, tasks, |(from, to, ends, start)| sort_digits(cx, from, to, (ends, start), low..shift))
}

/// Sorts the items of each digit by the bits below it. The ends of digits are in an array in which these items begin at
/// `start`.
fn sort_digits<T: Bits>(
    cx: Context<'_>,
    from: &mut [T],
    to: &mut [T],
    (ends, start): (&[u32], usize),
    bits: Range<u32>,
) -> Result<(), Error> {
    let mut first = 0;
    let mut all = counts(cx, &bits, FEW_BITS)?;
    for &end in ends {
        let end = end as usize - start;
        let (from, to) = (&mut from[first..end], &mut to[first..end]);
        let digit = if from.len() < 2 * BUCKETS { FEW_BITS } else { DIGIT_BITS };
        let moved = if bits.is_empty() || from.len() < FEW_OF_A_DIGIT {
            from.sort_unstable();
            false
        } else {
            by_digits(from, to, bits.clone(), digit, &mut all)
        };
        if !moved {
            to.copy_from_slice(from);
        }
        first = end;
    }
    Ok(())
}
