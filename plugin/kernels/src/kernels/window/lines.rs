//! Lines of results, each reduced from lines of the operand.

use crate::element::Element;
use crate::kernels::combine::{Combine, is_common};
use crate::kernels::reduce::{LANES, fold_lanes, fold_rows};
use crate::math::level::vectorised;

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
    if is_common::<T, C>() && T::TYPE == <T::Wide as Element>::TYPE && end <= operand.len() {
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
        let lanes_at = |start: usize| {
            fold_lanes::<T, C, LANES>(operand, |place| places[place] + offset + start, places.len(), [init; LANES])
        };
        if lines.len < LANES {
            sums.copy_from_slice(&lanes_at(0)[..lines.len]);
            continue;
        }
        // The last lanes overlap those before them.
        let (mut start, last) = (0, lines.len - LANES);
        loop {
            sums[start..][..LANES].copy_from_slice(&lanes_at(start));
            if start == last {
                break;
            }
            start = (start + LANES).min(last);
        }
    }
}
}
