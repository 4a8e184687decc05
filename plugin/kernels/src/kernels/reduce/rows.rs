//! Reductions of neighbours.
//!
//! Loops of known lengths, and nothing else, become vectors for each level of instructions.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use crate::element::Element;
use crate::kernels::combine::{Combine, is_common};
use crate::math::level::vectorised;

/// The number of accumulators side by side.
const LANES: usize = 32;

/// Reduces a slice; the identity if it is empty.
pub(super) fn fold_slice<T: Element, C: Combine<T::Wide>>(slice: &[T]) -> T::Wide {
    // Once more by a complex identity, infinities would be others. All else keeps its bits, and shares the long loop.
    if slice.len() <= LONGEST_SHORT || T::TYPE.is_complex() {
        return fold_alone::<T, C>(slice);
    }
    let mut result = [T::zeroed()];
    fold_each::<T, C>(slice, slice.len(), C::IDENTITY, &mut result);
    result[0].widen()
}

/// The longest row of [`fold_short`].
const LONGEST_SHORT: usize = 16;

vectorised! {
/// [`fold_slice`] by itself.
fn fold_alone<T: Element, C: Combine<T::Wide>>(slice: &[T]) -> T::Wide {
    // Rows of a few elements, such as points in space, are many.
    match slice.len() {
        row @ 0..=4 => fold_short::<T, C, 4>(&copied_lanes(slice), row),
        row @ 5..=LONGEST_SHORT => fold_short::<T, C, 16>(&copied_lanes(slice), row),
        row if T::TYPE.is_complex() => fold_long::<T, C, true>(slice, row),
        _ => unreachable!("long rows of real numbers are those of `each`"),
    }
}
}

/// Makes each result the initial value combined with a row of so many elements, with the bits of [`fold_slice`].
pub(super) fn fold_each<T: Element, C: Combine<T::Wide>>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    // Products of complex infinities and one are others, so that lanes without an element count.
    let fold = match row {
        0..=8 if is_common::<T, C>() && !T::TYPE.is_complex() => match row {
            2 => each_known::<T, C, 2, 4>,
            3 => each_known::<T, C, 3, 4>,
            4 => each_known::<T, C, 4, 4>,
            5 => each_known::<T, C, 5, 8>,
            6 => each_known::<T, C, 6, 8>,
            7 => each_known::<T, C, 7, 8>,
            8 => each_known::<T, C, 8, 8>,
            _ => each::<T, C, 16>,
        },
        0..=4 => each::<T, C, 4>,
        9..=LONGEST_SHORT if !T::TYPE.is_complex() => each_of_two_parts::<T, C>,
        5..=LONGEST_SHORT => each::<T, C, 16>,
        row if row < LONG => each_of_many::<T, C, false>,
        _ => each_of_many::<T, C, true>,
    };
    fold(elements, row, init, results);
}

vectorised! {
/// [`fold_each`] for rows of `ROW` elements in `N` lanes: vectors then hold an element of each of several rows.
fn each_known<T: Element, C: Combine<T::Wide>, const ROW: usize, const N: usize>(
    elements: &[T],
    _: usize,
    init: T::Wide,
    results: &mut [T],
) {
    for (result, row) in results.iter_mut().zip(elements.as_chunks::<ROW>().0) {
        let mut lanes = [C::IDENTITY; N];
        for lane in 0..ROW {
            lanes[lane] = C::combine(C::IDENTITY, row[lane].widen());
        }
        *result = T::narrow(C::combine(init, join_lanes::<_, N>(lanes, C::combine)));
    }
}
}

/// The lanes that each row by itself is reduced to, and the rows whose lanes are then joined side by side: a vector of
/// one row would wait for each of the last joins.
const LAST_LANES: usize = 8;
const SIDE_BY_SIDE: usize = 32;

/// [`fold_each`], where `lanes` reduces a row to a few lanes. If they are rough, `exactly` reduces a row again whose
/// result is [not sure](Combine::is_sure).
#[inline(always)]
fn join_side_by_side<T: Element, C: Combine<T::Wide>>(
    elements: &[T],
    row: usize,
    init: T::Wide,
    results: &mut [T],
    lanes: impl Fn(&[T]) -> [T::Wide; LAST_LANES],
    exactly: Option<impl Fn(&[T]) -> T::Wide>,
) {
    let mut rows = [[C::IDENTITY; LAST_LANES]; SIDE_BY_SIDE];
    let mut joined = [C::IDENTITY; SIDE_BY_SIDE];
    for (first, results) in results.chunks_mut(SIDE_BY_SIDE).enumerate() {
        let start = |index: usize| (first * SIDE_BY_SIDE + index) * row;
        for (index, row) in rows.iter_mut().enumerate().take(results.len()) {
            // Hidden from LLVM, which would gather an element of each of several rows.
            *row = lanes(&elements[std::hint::black_box(start(index))..]);
        }
        for (joined, row) in joined.iter_mut().zip(&rows).take(results.len()) {
            *joined = join_lanes::<_, LAST_LANES>(*row, C::combine);
        }
        if let Some(exactly) = &exactly {
            for (index, joined) in joined.iter_mut().enumerate().take(results.len()) {
                if !C::is_sure(*joined) {
                    *joined = exactly(&elements[start(index)..]);
                }
            }
        }
        for (result, &joined) in results.iter_mut().zip(&joined) {
            *result = T::narrow(C::combine(init, joined));
        }
    }
}

vectorised! {
/// [`fold_each`] for rows of more than [`LONGEST_SHORT`] elements.
fn each_of_many<T: Element, C: Combine<T::Wide>, const IS_LONG: bool>(
    elements: &[T],
    row: usize,
    init: T::Wide,
    results: &mut [T],
) {
    if T::TYPE.is_integer() || T::TYPE.is_complex() {
        for (index, result) in results.iter_mut().enumerate() {
            *result = T::narrow(C::combine(init, fold_long::<T, C, IS_LONG>(&elements[index * row..], row)));
        }
        return;
    }
    let is_there = present::<LANES>(row % LANES);
    join_side_by_side::<T, C>(
        elements,
        row,
        init,
        results,
        #[inline(always)]
        |elements| {
            let (lanes, is_rough) = rough_lanes::<T, C>(elements, row, &is_there);
            if is_rough {
                return joined_to(together::<_, IS_LONG>(lanes), C::roughly);
            }
            joined_to(together::<_, IS_LONG>(exact_lanes::<T, C>(elements, row, &is_there)), C::combine)
        },
        Some(|elements: &[T]| join_lanes::<_, LANES>(exact_lanes::<T, C>(elements, row, &is_there), C::combine)),
    );
}
}

vectorised! {
/// [`fold_each`] for rows of nine to sixteen elements, in two parts of eight lanes.
fn each_of_two_parts<T: Element, C: Combine<T::Wide>>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    let is_there = present::<LAST_LANES>(row - LAST_LANES);
    join_side_by_side::<T, C>(
        elements,
        row,
        init,
        results,
        #[inline(always)]
        |elements| two_parts::<T, C>(elements, row, &is_there),
        None::<fn(&[T]) -> T::Wide>,
    );
}
}

/// The first eight of `row` elements, combined with those behind them that are there.
#[inline(always)]
fn two_parts<T: Element, C: Combine<T::Wide>>(
    elements: &[T],
    row: usize,
    is_there: &[u32; LAST_LANES],
) -> [T::Wide; LAST_LANES] {
    let copied: [T; LONGEST_SHORT];
    let chunk = match elements.first_chunk() {
        Some(chunk) => chunk,
        None => {
            copied = copied_lanes(&elements[..row]);
            &copied
        }
    };
    let mut lanes = [C::IDENTITY; LAST_LANES];
    for lane in 0..LAST_LANES {
        let other = C::combine(C::IDENTITY, chunk[LAST_LANES + lane].widen());
        let other = if is_there[lane] != 0 { other } else { C::IDENTITY };
        lanes[lane] = C::combine(C::combine(C::IDENTITY, chunk[lane].widen()), other);
    }
    lanes
}

vectorised! {
/// [`fold_each`] for rows of at most `N` elements.
fn each<T: Element, C: Combine<T::Wide>, const N: usize>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    for (index, result) in results.iter_mut().enumerate() {
        // Vectors are loaded from the row on, also beyond it, while there are `N` elements.
        let rest = &elements[index * row..];
        let copied: [T; N];
        let lanes = match rest.first_chunk() {
            Some(lanes) => lanes,
            None => {
                copied = copied_lanes(&rest[..row]);
                &copied
            }
        };
        *result = T::narrow(C::combine(init, fold_short::<T, C, N>(lanes, row)));
    }
}
}

/// [`fold_slice`] of the first `row` elements, which are many, for integers and complex numbers. Elements behind them
/// are loaded, but do not count.
#[inline(always)]
fn fold_long<T: Element, C: Combine<T::Wide>, const IS_LONG: bool>(elements: &[T], row: usize) -> T::Wide {
    // In any order their result is the same, and LLVM chooses lanes: of ours, it would gather those of one number.
    if T::TYPE.is_integer() {
        return elements[..row].iter().fold(C::IDENTITY, |result, x| C::combine(result, x.widen()));
    }
    let is_there = present::<LANES>(row % LANES);
    join_lanes::<_, LANES>(together::<_, IS_LONG>(exact_lanes::<T, C>(elements, row, &is_there)), C::combine)
}

/// The first `row` elements combined roughly in lanes, and whether none of them has too much
/// [doubt](Combine::doubt).
#[inline(always)]
fn rough_lanes<T: Element, C: Combine<T::Wide>>(
    elements: &[T],
    row: usize,
    is_there: &[u32; LANES],
) -> ([T::Wide; LANES], bool) {
    let mut doubts = [0; LANES];
    let lanes = in_lanes::<T, T::Wide>(
        elements,
        row,
        is_there,
        [C::IDENTITY; LANES],
        #[inline(always)]
        |lane, sum, x| {
            doubts[lane] = C::doubt(x).max(doubts[lane]);
            C::roughly(sum, x)
        },
    );
    let mut is_doubtful = false;
    for doubt in doubts {
        is_doubtful |= doubt > C::MOST_DOUBT;
    }
    (lanes, !is_doubtful)
}

/// The first `row` elements combined in lanes.
#[inline(always)]
fn exact_lanes<T: Element, C: Combine<T::Wide>>(
    elements: &[T],
    row: usize,
    is_there: &[u32; LANES],
) -> [T::Wide; LANES] {
    in_lanes::<T, T::Wide>(
        elements,
        row,
        is_there,
        [C::IDENTITY; LANES],
        #[inline(always)]
        |_, sum, x| C::combine(sum, x),
    )
}

/// The lanes, which were neighbours in memory if rows are long: otherwise LLVM makes vectors of the lanes that are
/// joined first, and others of what is left, whose loads cross cache lines. Short rows would wait for the memory.
#[inline(always)]
fn together<W: Copy, const IS_LONG: bool>(lanes: [W; LANES]) -> [W; LANES] {
    if IS_LONG { *std::hint::black_box(&lanes) } else { lanes }
}

/// The number of elements from which on a row is long.
const LONG: usize = 256;

/// For each lane, whether it is one of the first `count`, as a number: LLVM makes a vector of what it reads in memory,
/// and parts of vectors of a comparison with each lane's number.
#[inline(always)]
fn present<const N: usize>(count: usize) -> [u32; N] {
    let mut lanes = [0; N];
    lanes[..count].fill(1);
    lanes
}

/// Applies `add` to each lane, by its number, and every [`LANES`]th of the first `row` elements. After the last whole
/// chunk, only lanes that are `is_there` have another element.
#[inline(always)]
fn in_lanes<T: Element, W: Copy>(
    elements: &[T],
    row: usize,
    is_there: &[u32; LANES],
    mut lanes: [W; LANES],
    mut add: impl FnMut(usize, W, T::Wide) -> W,
) -> [W; LANES] {
    let chunks = elements[..row].as_chunks::<LANES>().0;
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = add(lane, lanes[lane], chunk[lane].widen());
        }
    }
    let (rest, count) = (&elements[chunks.len() * LANES..], row % LANES);
    if count > 0 {
        let copied: [T; LANES];
        let last: &[T; LANES] = match rest.first_chunk() {
            Some(last) => last,
            None => {
                copied = copied_lanes(&rest[..count]);
                &copied
            }
        };
        for lane in 0..LANES {
            let sum = add(lane, lanes[lane], last[lane].widen());
            lanes[lane] = if is_there[lane] != 0 { sum } else { lanes[lane] };
        }
    }
    lanes
}

/// [`fold_slice`] of the first `row` elements, with the same bits: what lanes without an element would add is the
/// identity.
#[inline(always)]
fn fold_short<T: Element, C: Combine<T::Wide>, const N: usize>(elements: &[T; N], row: usize) -> T::Wide {
    let mut lanes = [C::IDENTITY; N];
    for lane in 0..N {
        let x = C::combine(C::IDENTITY, elements[lane].widen());
        lanes[lane] = if lane < row { x } else { C::IDENTITY };
    }
    join_lanes::<_, N>(lanes, C::combine)
}

/// A row with zeros behind it.
#[inline(always)]
fn copied_lanes<T: Element, const N: usize>(row: &[T]) -> [T; N] {
    let mut lanes = [T::zeroed(); N];
    lanes[..row.len()].copy_from_slice(row);
    lanes
}

/// The lanes joined: the first half with the second, and so on.
#[inline(always)]
fn join_lanes<W: Copy, const N: usize>(lanes: [W; N], combine: impl Fn(W, W) -> W) -> W {
    let [result] = joined_to::<W, N, 1>(lanes, combine);
    result
}

/// The same, until `M` lanes are left.
#[inline(always)]
fn joined_to<W: Copy, const N: usize, const M: usize>(mut lanes: [W; N], combine: impl Fn(W, W) -> W) -> [W; M] {
    let mut width = N / 2;
    while width >= M {
        for i in 0..width {
            lanes[i] = combine(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    let mut left = [lanes[0]; M];
    left.copy_from_slice(&lanes[..M]);
    left
}
