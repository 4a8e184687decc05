//! Reductions of few columns: whole rows are in registers.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use super::columns::{LONGEST_BLOCK, ROWS};
use crate::element::Element;
use crate::kernels::combine::Combine;
use crate::math::level::vectorised;

/// The number of columns that are reduced at a time.
pub(crate) const LANES: usize = 16;

/// The most columns for which reading rows several times, for some columns each time, is better.
pub(super) const WIDEST: usize = 2 * LANES - 1;

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
        // A single group needs no levels, and there may be very many such blocks.
        let lanes = fold_lanes::<T, C, LANES>(block, |row| row * stride, rows, [C::IDENTITY; LANES]);
        return sums.copy_from_slice(&lanes[..sums.len()]);
    }
    let (mut levels, mut used) = ([[C::IDENTITY; LANES]; LEVELS], 0);
    let mut lanes = [[C::IDENTITY; LANES]; ROWS];
    for group in 0..rows.div_ceil(ROWS) {
        let (rows, count) = (&block[group * ROWS * stride..], ROWS.min(rows - group * ROWS));
        let mut joined = if is_wide && rows.len() >= (count - 1) * stride + LANES {
            fold_lanes::<T, C, LANES>(rows, |row| row * stride, count, [C::IDENTITY; LANES])
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

/// `sums` combined with the `N` elements from each of `count` places of the operand on, four places at a time as in
/// [`fold_rows`](super::fold_rows).
#[inline(always)]
pub(crate) fn fold_lanes<T: Element, C: Combine<T::Wide>, const N: usize>(
    operand: &[T],
    place: impl Fn(usize) -> usize,
    count: usize,
    mut sums: [T::Wide; N],
) -> [T::Wide; N] {
    let row = |index: usize| &operand[place(index)..][..N];
    let fours = count / 4;
    for four in 0..fours {
        let (a, b, c, d) = (row(4 * four), row(4 * four + 1), row(4 * four + 2), row(4 * four + 3));
        for lane in 0..N {
            let (ab, cd) = (C::combine(a[lane].widen(), b[lane].widen()), C::combine(c[lane].widen(), d[lane].widen()));
            sums[lane] = C::combine(sums[lane], C::combine(ab, cd));
        }
    }
    for index in 4 * fours..count {
        let row = row(index);
        for lane in 0..N {
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
