//! Reductions of few columns: whole rows are in registers.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use super::columns::{LONGEST_BLOCK, ROWS};
use crate::element::Element;
use crate::kernels::combine::Combine;
use crate::kernels::simd::vectorised;

/// The number of columns that are reduced at a time.
pub(crate) const LANES: usize = 16;

/// Whether rows are so short that reading them once more, for the columns beyond the first [`LANES`], is better than a
/// loop over these.
pub(super) fn is_narrow(width: usize) -> bool {
    width < 2 * LANES
}

/// The most groups of rows of a block that are not joined yet.
const LEVELS: usize = (LONGEST_BLOCK / ROWS).ilog2() as usize + 1;

vectorised! {
/// Sums columns of a block of rows, which are `stride` elements apart: as many as there are `sums`, at most [`LANES`].
/// The lanes beyond these compute something of what follows in memory, which is dropped.
pub(super) fn fold_narrow<T: Element, C: Combine<T::Wide>>(
    block: &[T],
    (stride, rows): (usize, usize),
    sums: &mut [T::Wide],
) {
    let is_wide = size_of::<T>() == size_of::<T::Wide>();
    if is_wide && (1..=ROWS).contains(&rows) && block.len() >= (rows - 1) * stride + LANES {
        // One group, of which there may be very many.
        let lanes = fold_lanes::<T, C>(block, |row| row * stride, rows, C::IDENTITY);
        return sums.copy_from_slice(&lanes[..sums.len()]);
    }
    let (mut levels, mut used) = ([[C::IDENTITY; LANES]; LEVELS], 0);
    let mut lanes = [[C::IDENTITY; LANES]; ROWS];
    for group in 0..rows.div_ceil(ROWS) {
        let (rows, count) = (&block[group * ROWS * stride..], ROWS.min(rows - group * ROWS));
        let mut joined = if is_wide && rows.len() >= (count - 1) * stride + LANES {
            fold_lanes::<T, C>(rows, |row| row * stride, count, C::IDENTITY)
        } else {
            for row in 0..count {
                load(&rows[row * stride..], &mut lanes[row]);
            }
            fold_loaded::<T, C>(&lanes[..count])
        };
        for _ in 0..group.trailing_ones() {
            used -= 1;
            joined = join::<T, C>(&levels[used], &joined);
        }
        levels[used] = joined;
        used += 1;
    }
    let mut joined = if used > 0 { levels[used - 1] } else { [C::IDENTITY; LANES] };
    for level in (0..used.saturating_sub(1)).rev() {
        joined = join::<T, C>(&levels[level], &joined);
    }
    sums.copy_from_slice(&joined[..sums.len()]);
}
}

// Loops of known lengths, and nothing else, become vectors for each level of instructions.

/// Loads a row; lanes beyond the end of the operand stay as they are.
#[inline(always)]
fn load<T: Element>(row: &[T], lanes: &mut [T::Wide; LANES]) {
    if row.len() >= LANES {
        let row = &row[..LANES];
        for lane in 0..LANES {
            lanes[lane] = row[lane].widen();
        }
    } else {
        for lane in 0..row.len() {
            lanes[lane] = row[lane].widen();
        }
    }
}

/// The sums of each lane of at most [`ROWS`] rows, four at a time as in [`fold_rows`](super::fold_rows).
#[inline(always)]
fn fold_loaded<T: Element, C: Combine<T::Wide>>(rows: &[[T::Wide; LANES]]) -> [T::Wide; LANES] {
    let (mut sums, fours) = ([C::IDENTITY; LANES], rows.len() / 4);
    for four in 0..fours {
        let rows = &rows[4 * four..][..4];
        for lane in 0..LANES {
            let (ab, cd) = (C::combine(rows[0][lane], rows[1][lane]), C::combine(rows[2][lane], rows[3][lane]));
            sums[lane] = C::combine(sums[lane], C::combine(ab, cd));
        }
    }
    for row in &rows[4 * fours..] {
        sums = join::<T, C>(&sums, row);
    }
    sums
}

/// `init` combined with the lanes from each of `count` places of the operand on, four places at a time as in
/// [`fold_rows`](super::fold_rows).
#[inline(always)]
pub(crate) fn fold_lanes<T: Element, C: Combine<T::Wide>>(
    operand: &[T],
    place: impl Fn(usize) -> usize,
    count: usize,
    init: T::Wide,
) -> [T::Wide; LANES] {
    let (mut sums, fours) = ([init; LANES], count / 4);
    for four in 0..fours {
        let (a, b) = (&operand[place(4 * four)..][..LANES], &operand[place(4 * four + 1)..][..LANES]);
        let (c, d) = (&operand[place(4 * four + 2)..][..LANES], &operand[place(4 * four + 3)..][..LANES]);
        for lane in 0..LANES {
            let (ab, cd) = (C::combine(a[lane].widen(), b[lane].widen()), C::combine(c[lane].widen(), d[lane].widen()));
            sums[lane] = C::combine(sums[lane], C::combine(ab, cd));
        }
    }
    for index in 4 * fours..count {
        let row = &operand[place(index)..][..LANES];
        for lane in 0..LANES {
            sums[lane] = C::combine(sums[lane], row[lane].widen());
        }
    }
    sums
}

/// Combines lanes with later ones.
#[inline(always)]
fn join<T: Element, C: Combine<T::Wide>>(earlier: &[T::Wide; LANES], later: &[T::Wide; LANES]) -> [T::Wide; LANES] {
    let mut joined = *earlier;
    for lane in 0..LANES {
        joined[lane] = C::combine(earlier[lane], later[lane]);
    }
    joined
}
