//! Lines of results, each reduced from lines of the operand.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use crate::element::Element;
use crate::kernels::combine::Combine;
use crate::kernels::reduce::fold_rows;
use crate::kernels::simd::vectorised;

/// Neighbouring lines of equal windows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    /// The number of lines.
    pub(super) count: usize,
    /// The length of a line.
    pub(super) len: usize,
    /// The distance of their elements in the operand.
    pub(super) step: usize,
    /// Their distance in the result.
    pub(super) pitch: usize,
}

/// The number of elements that are reduced at a time.
const LANES: usize = 16;

/// Makes each line of `sums` the initial value combined with the lines that begin at `places` of the operand, four
/// places at a time as in [`fold_rows`].
pub(super) fn fold_lines<T: Element, C: Combine<T::Wide>>(
    operand: &[T],
    places: &[usize],
    lines: Lines,
    init: T::Wide,
    sums: &mut [T::Wide],
) where
    T::Wide: Element<Wide = T::Wide>,
{
    // Lines without a gap form one.
    let Lines { count, len, step, pitch } = lines;
    let is_one = step == len && pitch == len;
    let lines = if is_one { Lines { count: 1, len: len * count, step, pitch } } else { lines };
    let end = places.iter().max().map_or(0, |place| place + (count - 1) * step + len.max(LANES));
    if T::IS_COMMON && T::TYPE == <T::Wide as Element>::TYPE && end <= operand.len() {
        return fold_short::<T, C>(operand, places, lines, init, sums);
    }
    for line in 0..lines.count {
        let sums = &mut sums[line * pitch..][..lines.len];
        sums.fill(init);
        fold_rows::<T, C>(operand, places, line * step, sums);
    }
}

vectorised! {
/// [`fold_lines`] for elements that are stored as they are computed, if there are as many as there are lanes after each
/// place.
fn fold_short<T: Element, C: Combine<T::Wide>>(
    operand: &[T],
    places: &[usize],
    lines: Lines,
    init: T::Wide,
    sums: &mut [T::Wide],
) {
    for line in 0..lines.count {
        let (sums, offset) = (&mut sums[line * lines.pitch..][..lines.len], line * lines.step);
        if lines.len < LANES {
            let lanes = fold_lanes::<T, C>(operand, places, offset, init);
            sums.copy_from_slice(&lanes[..lines.len]);
            continue;
        }
        // The last lanes overlap those before them.
        let (mut start, last) = (0, lines.len - LANES);
        loop {
            let (lanes, sums) = (fold_lanes::<T, C>(operand, places, offset + start, init), &mut sums[start..][..LANES]);
            sums.copy_from_slice(&lanes);
            if start == last {
                break;
            }
            start = (start + LANES).min(last);
        }
    }
}
}

/// The initial value combined with neighbouring elements at each place.
#[inline(always)]
fn fold_lanes<T: Element, C: Combine<T::Wide>>(
    operand: &[T],
    places: &[usize],
    offset: usize,
    init: T::Wide,
) -> [T::Wide; LANES] {
    let (mut sums, fours) = ([init; LANES], places.len() / 4);
    for four in 0..fours {
        let places = &places[4 * four..][..4];
        let (a, b) = (lanes(operand, places[0] + offset), lanes(operand, places[1] + offset));
        let (c, d) = (lanes(operand, places[2] + offset), lanes(operand, places[3] + offset));
        for lane in 0..LANES {
            let (ab, cd) = (C::combine(a[lane].widen(), b[lane].widen()), C::combine(c[lane].widen(), d[lane].widen()));
            sums[lane] = C::combine(sums[lane], C::combine(ab, cd));
        }
    }
    for &place in &places[4 * fours..] {
        let row = lanes(operand, place + offset);
        for lane in 0..LANES {
            sums[lane] = C::combine(sums[lane], row[lane].widen());
        }
    }
    sums
}

#[inline(always)]
fn lanes<T>(operand: &[T], place: usize) -> &[T] {
    &operand[place..][..LANES]
}
