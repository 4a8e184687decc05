//! Reductions of neighbours.
//!
//! Loops of known lengths, and nothing else, become vectors for each level of instructions.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use crate::element::Element;
use crate::kernels::combine::Combine;
use crate::kernels::simd::vectorised;

/// The number of accumulators side by side.
const LANES: usize = 32;

vectorised! {
/// Reduces a slice; the identity if it is empty.
pub(super) fn fold_slice<T: Element, C: Combine<T::Wide>>(slice: &[T]) -> T::Wide {
    // Rows of a few elements, such as points in space, are many.
    match slice.len() {
        row @ 0..=4 => fold_short::<T, C, 4>(slice, row),
        row @ 5..=16 => fold_short::<T, C, 16>(slice, row),
        _ => fold_long::<T, C>(slice),
    }
}
}

/// Makes each result the initial value combined with a row of so many elements, with the bits of [`fold_slice`].
pub(super) fn fold_each<T: Element, C: Combine<T::Wide>>(elements: &[T], row: usize, init: T::Wide, results: &mut [T]) {
    let fold = match row {
        _ if !T::IS_COMMON => each_slice::<T, C>,
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
    for (index, result) in results.iter_mut().enumerate() {
        let rows = &elements[index * row..];
        let sum = if N == 0 { fold_long::<T, C>(&rows[..row]) } else { fold_short::<T, C, N>(rows, row) };
        *result = T::narrow(C::combine(init, sum));
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

/// [`fold_slice`] of the first `row` elements, at most `N`, with the same bits: what lanes without an element would add
/// is the identity.
#[inline(always)]
fn fold_short<T: Element, C: Combine<T::Wide>, const N: usize>(elements: &[T], row: usize) -> T::Wide {
    let mut lanes = [C::IDENTITY; N];
    if elements.len() >= N {
        // All lanes are loaded at once, those beyond the row with elements of later rows.
        let elements = &elements[..N];
        for lane in 0..N {
            let x = C::combine(C::IDENTITY, elements[lane].widen());
            lanes[lane] = if lane < row { x } else { C::IDENTITY };
        }
    } else {
        for lane in 0..row {
            lanes[lane] = C::combine(C::IDENTITY, elements[lane].widen());
        }
    }
    join_lanes::<T, C, N>(lanes)
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
