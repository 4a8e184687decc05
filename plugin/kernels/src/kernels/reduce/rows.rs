//! Reductions of neighbours.
//!
//! Loops of known lengths, and nothing else, become vectors for each level of instructions.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use crate::element::Element;
use crate::kernels::combine::{Combine, is_common};
use crate::kernels::simd::vectorised;

/// The number of accumulators side by side.
const LANES: usize = 32;

vectorised! {
/// Reduces a slice; the identity if it is empty.
pub(super) fn fold_slice<T: Element, C: Combine<T::Wide>>(slice: &[T]) -> T::Wide {
    // Rows of a few elements, such as points in space, are many.
    match slice.len() {
        row @ 0..=4 => fold_short::<T, C, 4>(&copied_lanes(slice), row),
        row @ 5..=16 => fold_short::<T, C, 16>(&copied_lanes(slice), row),
        _ => fold_long::<T, C>(slice),
    }
}
}

/// Makes each result the initial value combined with a row of so many elements, with the bits of [`fold_slice`].
pub(super) fn fold_each<T: Element, C: Combine<T::Wide>>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    let fold = match row {
        _ if !is_common::<T, C>() => each_slice::<T, C>,
        0..=4 => each::<T, C, 4>,
        // Products of complex infinities and one are others.
        5..=8 if !T::TYPE.is_complex() => each::<T, C, 8>,
        5..=16 => each::<T, C, 16>,
        _ => each::<T, C, 0>,
    };
    fold(elements, row, init, results);
}

/// [`fold_each`] by calls of [`fold_slice`].
fn each_slice<T: Element, C: Combine<T::Wide>>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    for (index, result) in results.iter_mut().enumerate() {
        *result = T::narrow(C::combine(init, fold_slice::<T, C>(&elements[index * row..][..row])));
    }
}

vectorised! {
/// [`fold_each`] for rows of at most `N` elements, or of many if `N` is 0.
fn each<T: Element, C: Combine<T::Wide>, const N: usize>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    if N == 0 {
        for (index, result) in results.iter_mut().enumerate() {
            *result = T::narrow(C::combine(init, fold_long::<T, C>(&elements[index * row..][..row])));
        }
        return;
    }
    // Rows from whose start on there are `N` elements: vectors are loaded of these, also beyond the row.
    let whole = if elements.len() < N { 0 } else { (elements.len() - N) / row.max(1) + 1 };
    let (loaded, copied) = results.split_at_mut(whole.min(results.len()));
    for (index, result) in loaded.iter_mut().enumerate() {
        let lanes = elements[index * row..].first_chunk().expect("there are as many");
        *result = T::narrow(C::combine(init, fold_short::<T, C, N>(lanes, row)));
    }
    for (index, result) in copied.iter_mut().enumerate() {
        let lanes = copied_lanes(&elements[(whole + index) * row..][..row]);
        *result = T::narrow(C::combine(init, fold_short::<T, C, N>(&lanes, row)));
    }
}
}

/// [`fold_slice`] of many elements.
#[inline(always)]
fn fold_long<T: Element, C: Combine<T::Wide>>(slice: &[T]) -> T::Wide {
    let mut chunks = slice.chunks_exact(LANES);
    let mut lanes = [C::IDENTITY; LANES];
    for chunk in &mut chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = C::combine(*lane, x.widen());
        }
    }
    for (lane, x) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = C::combine(*lane, x.widen());
    }
    join_lanes::<T, C, LANES>(lanes)
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
    join_lanes::<T, C, N>(lanes)
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
fn join_lanes<T: Element, C: Combine<T::Wide>, const N: usize>(mut lanes: [T::Wide; N]) -> T::Wide {
    let mut width = N / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] = C::combine(lanes[i], lanes[i + width]);
        }
        width /= 2;
    }
    lanes[0]
}
