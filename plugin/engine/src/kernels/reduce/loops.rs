//! The inner loops of reductions.

use oxcall_hlo::{BinaryOp, ElementType};

use super::layout::SEGMENT;
use crate::element::{Element, Scalar};
use crate::kernels::combine::{Combine, by_combine};
use crate::kernels::simd::vectorised;

/// The type of [`fold_rows`].
type FoldRows<T> = fn(&[T], &[usize], usize, &mut [<T as Element>::Wide]);

/// The loops of one function, for kernels that are generic over types but not over functions: only the innermost loops
/// are compiled for both.
#[derive(Clone, Copy)]
pub(crate) struct Loops<T: Element> {
    /// The identity element.
    pub(crate) identity: T::Wide,
    /// The function.
    pub(crate) combine: fn(T::Wide, T::Wide) -> T::Wide,
    /// [`fold_slice`].
    pub(crate) slice: fn(&[T]) -> T::Wide,
    /// [`fold_rows`].
    pub(crate) rows: FoldRows<T>,
    /// [`fold_strided`].
    pub(crate) strided: fn(&[T], usize, &mut [T::Wide]),
    /// [`join`].
    pub(crate) join: fn(&[T::Wide], &mut [T::Wide]),
}

impl<T: Element> Loops<T> {
    /// The loops of `C`.
    pub(crate) fn of<C: Combine<T::Wide>>() -> Loops<T> {
        Loops {
            identity: C::IDENTITY,
            combine: C::combine,
            slice: fold_slice::<T, C>,
            rows: fold_rows::<T, C>,
            strided: fold_strided::<T, C>,
            join: join::<T::Wide, C>,
        }
    }
}

/// Reduces each row of the first slice, which has the given number of elements, to one element of the second.
pub(crate) type RowFold = fn(&[u8], usize, &mut [u8]);

/// The reduction of rows by a recognised function, for elements that are stored as they are computed, with its identity
/// element. Rows are summed segment by segment, as in [`fold`](super::fold).
pub(crate) fn row_fold(function: BinaryOp, element: ElementType) -> Option<(RowFold, Scalar)> {
    fn rows<T: Element<Wide = T>, C: Combine<T>>(from: &[u8], row: usize, out: &mut [u8]) {
        let (from, out): (&[T], &mut [T]) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(out));
        for (out, row) in out.iter_mut().zip(from.chunks_exact(row)) {
            *out = row.chunks(SEGMENT).map(fold_slice::<T, C>).reduce(C::combine).unwrap_or(C::IDENTITY);
        }
    }
    if matches!(element, ElementType::F16 | ElementType::BF16 | ElementType::Pred) {
        return None;
    }
    by_combine!(@computed function, element, (T, C) => {
        (rows::<T, C> as RowFold, Scalar::from_pod(<C as Combine<T>>::IDENTITY))
    })
}

/// The reduction of numbers side by side by a recognised function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnFold {
    /// Combines each number of the second slice with an earlier one.
    pub(crate) join: fn(&[u8], &mut [u8]),
    /// The identity element.
    pub(crate) identity: Scalar,
}

/// [`ColumnFold`] for elements that are stored as they are computed.
pub(crate) fn column_fold(function: BinaryOp, element: ElementType) -> Option<ColumnFold> {
    fn columns<T: Element<Wide = T>, C: Combine<T>>(earlier: &[u8], sums: &mut [u8]) {
        join::<T, C>(bytemuck::cast_slice(earlier), bytemuck::cast_slice_mut(sums));
    }
    if matches!(element, ElementType::F16 | ElementType::BF16 | ElementType::Pred) {
        return None;
    }
    by_combine!(@computed function, element, (T, C) => {
        ColumnFold { join: columns::<T, C>, identity: Scalar::from_pod(<C as Combine<T>>::IDENTITY) }
    })
}

/// Whether `rows` rows of `row` elements are reduced one by one: a row has to fit a cache near the processor, and rows
/// of several segments have to be enough for all threads.
pub(crate) fn are_tiles(rows: usize, row: usize) -> bool {
    match row {
        2..=SEGMENT => rows >= 2,
        0 | 1 | LONGEST_ROW.. => false,
        _ => rows >= 16,
    }
}

/// Rows of half of a million bytes, or more, are in no such cache.
const LONGEST_ROW: usize = 1 << 17;

/// The number of accumulators side by side.
const LANES: usize = 32;

vectorised! {
/// Reduces a slice; the identity if it is empty.
fn fold_slice<T: Element, C: Combine<T::Wide>>(slice: &[T]) -> T::Wide {
    // Rows of a few elements, such as points in space, are many.
    match slice.len() {
        0..=4 => return fold_short::<T, C, 4>(slice),
        5..=16 => return fold_short::<T, C, 16>(slice),
        _ => {}
    }
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
}

/// [`fold_slice`] of at most `N` elements, with the same bits: what lanes without an element would add is the identity.
#[inline(always)]
fn fold_short<T: Element, C: Combine<T::Wide>, const N: usize>(slice: &[T]) -> T::Wide {
    let mut lanes = [C::IDENTITY; N];
    for (lane, x) in lanes.iter_mut().zip(slice) {
        *lane = C::combine(C::IDENTITY, x.widen());
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

vectorised! {
/// Adds to each of `sums` the elements of its column: those from `column` on in each of `rows`, which are the places
/// where rows start in `operand`.
fn fold_rows<T: Element, C: Combine<T::Wide>>(
    operand: &[T],
    rows: &[usize],
    column: usize,
    sums: &mut [T::Wide],
) {
    let mut fours = rows.chunks_exact(4);
    for four in &mut fours {
        // Four rows at a time: the sums are loaded and stored a quarter as often.
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| &operand[four[i] + column..][..sums.len()]);
        for ((((sum, a), b), c), d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let (ab, cd) = (C::combine(a.widen(), b.widen()), C::combine(c.widen(), d.widen()));
            *sum = C::combine(*sum, C::combine(ab, cd));
        }
    }
    for row in fours.remainder() {
        for (sum, x) in sums.iter_mut().zip(&operand[row + column..]) {
            *sum = C::combine(*sum, x.widen());
        }
    }
}
}

vectorised! {
/// Combines each of `sums` with an earlier sum.
fn join<W: Copy, C: Combine<W>>(earlier: &[W], sums: &mut [W]) {
    sums.iter_mut().zip(earlier).for_each(|(sum, &earlier)| *sum = C::combine(earlier, *sum));
}
}

vectorised! {
/// Combines each of `sums` with every `stride`th element, while both last.
fn fold_strided<S: Element, C: Combine<S::Wide>>(src: &[S], stride: usize, sums: &mut [S::Wide]) {
    if stride == 1 {
        sums.iter_mut().zip(src).for_each(|(sum, x)| *sum = C::combine(*sum, x.widen()));
    } else {
        sums.iter_mut().zip(src.iter().step_by(stride)).for_each(|(sum, x)| *sum = C::combine(*sum, x.widen()));
    }
}
}
