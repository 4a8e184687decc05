//! The inner loops of reductions.

use oxcall_hlo::{BinaryOp, ElementType};

use super::layout::SEGMENT;
use super::narrow::{LANES, fold_lanes, fold_narrow};
use super::rows::{fold_each, fold_slice};
use crate::element::{Element, Scalar};
use crate::kernels::combine::{Combine, by_combine, is_common};
use crate::math::level::vectorised;

/// The type of [`fold_rows`].
type FoldRows<T> = fn(&[T], &[usize], usize, &mut [<T as Element>::Wide]);

/// The type of [`fold_narrow`].
type FoldNarrow<T> = fn(&[T], (usize, usize), &mut [<T as Element>::Wide]);

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
    /// [`append`].
    pub(crate) append: fn(&mut [T::Wide], &[T::Wide]),
    /// [`finish`].
    pub(crate) finish: fn(T::Wide, &[T::Wide], &mut [T]),
    /// [`fold_each`].
    pub(super) each: fn(&[T], usize, T::Wide, &mut [T]),
    /// [`fold_narrow`], for common types.
    pub(super) narrow: Option<FoldNarrow<T>>,
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
            append: append::<T::Wide, C>,
            finish: finish::<T, C>,
            each: fold_each::<T, C>,
            narrow: is_common::<T, C>().then_some(fold_narrow::<T, C>),
        }
    }
}

/// Reduces each row of the first slice, which has the given number of elements, to one element of the second.
pub type RowFold = fn(&[u8], usize, &mut [u8]);

/// The reduction of rows by a recognised function, for elements that are stored as they are computed, with its identity
/// element. Rows are summed segment by segment, as in `fold`.
pub fn row_fold(function: BinaryOp, element: ElementType) -> Option<(RowFold, Scalar)> {
    fn rows<T: Element<Wide = T>, C: Combine<T>>(from: &[u8], row: usize, out: &mut [u8]) {
        let (from, out): (&[T], &mut [T]) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(out));
        if row <= SEGMENT {
            return fold_each::<T, C>(from, row, C::IDENTITY, out);
        }
        for (out, row) in out.iter_mut().zip(from.chunks_exact(row)) {
            *out = row.chunks(SEGMENT).map(fold_slice::<T, C>).reduce(C::combine).unwrap_or(C::IDENTITY);
        }
    }
    by_combine!(@computed function, element, (T, C) => {
        (rows::<T, C> as RowFold, Scalar::from_pod(<C as Combine<T>>::IDENTITY))
    })
}

/// The reduction of numbers side by side by a recognised function.
#[derive(Debug, Clone, Copy)]
pub struct ColumnFold {
    /// Combines each number of the second slice with an earlier one.
    pub(crate) join: fn(&[u8], &mut [u8]),
    /// The identity element.
    pub(crate) identity: Scalar,
}

/// [`ColumnFold`] for elements that are stored as they are computed.
pub fn column_fold(function: BinaryOp, element: ElementType) -> Option<ColumnFold> {
    fn columns<T: Element<Wide = T>, C: Combine<T>>(earlier: &[u8], sums: &mut [u8]) {
        join::<T, C>(bytemuck::cast_slice(earlier), bytemuck::cast_slice_mut(sums));
    }
    by_combine!(@computed function, element, (T, C) => {
        ColumnFold { join: columns::<T, C>, identity: Scalar::from_pod(<C as Combine<T>>::IDENTITY) }
    })
}

/// Whether `rows` rows of `row` elements are reduced one by one: a row has to fit a cache near the processor, and rows
/// of several segments have to be enough for all threads.
pub fn are_tiles(rows: usize, row: usize) -> bool {
    match row {
        2..=SEGMENT => rows >= 2,
        0 | 1 | LONGEST_ROW.. => false,
        _ => rows >= 16,
    }
}

/// Rows of half of a million bytes, or more, are in no such cache.
const LONGEST_ROW: usize = 1 << 17;

/// The most columns whose sums are taken in panels: beyond these, a loop over columns has begun soon enough.
const MOST_IN_PANELS: usize = 512;

/// [`fold_rows`] of as many panels of `N` columns as there are, whose sums stay in registers. Returns the number of
/// columns in them.
#[inline(always)]
fn fold_panels<T: Element, C: Combine<T::Wide>, const N: usize>(
    operand: &[T],
    rows: &[usize],
    column: usize,
    sums: &mut [T::Wide],
) -> usize {
    for (index, sums) in sums.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        *sums = fold_lanes::<T, C, N>(operand, |row| rows[row] + column + index * N, rows.len(), *sums);
    }
    sums.len() / N * N
}

vectorised! {
/// Adds to each of `sums` the elements of its column: those from `column` on in each of `rows`, which are the places
/// where rows start in `operand`.
pub(crate) fn fold_rows<T: Element, C: Combine<T::Wide>>(
    operand: &[T],
    rows: &[usize],
    column: usize,
    sums: &mut [T::Wide],
) {
    if (LANES..=MOST_IN_PANELS).contains(&sums.len()) {
        let mut done = fold_panels::<T, C, 64>(operand, rows, column, sums);
        done += fold_panels::<T, C, 32>(operand, rows, column + done, &mut sums[done..]);
        done += fold_panels::<T, C, LANES>(operand, rows, column + done, &mut sums[done..]);
        let left = sums.len() - done;
        if let (1.., Some(&last)) = (left, sums.last_chunk::<LANES>()) {
            // Some of its columns are done.
            let first = column + sums.len() - LANES;
            let last = fold_lanes::<T, C, LANES>(operand, |row| rows[row] + first, rows.len(), last);
            sums[done..].copy_from_slice(&last[LANES - left..]);
        }
        return;
    }
    // Many rows at a time: the sums are loaded and stored less often. More than eight, at distances of pages, would not
    // fit the L1 cache, which has few places for their lines.
    let count = sums.len();
    let row = |start: usize| &operand[start + column..][..count];
    let mut eights = rows.chunks_exact(8);
    for eight in &mut eights {
        let (a, b, c, d) = (row(eight[0]), row(eight[1]), row(eight[2]), row(eight[3]));
        let (e, f, g, h) = (row(eight[4]), row(eight[5]), row(eight[6]), row(eight[7]));
        for (i, sum) in sums.iter_mut().enumerate() {
            let (ab, cd) = (C::combine(a[i].widen(), b[i].widen()), C::combine(c[i].widen(), d[i].widen()));
            let (ef, gh) = (C::combine(e[i].widen(), f[i].widen()), C::combine(g[i].widen(), h[i].widen()));
            *sum = C::combine(C::combine(*sum, C::combine(ab, cd)), C::combine(ef, gh));
        }
    }
    let mut fours = eights.remainder().chunks_exact(4);
    for four in &mut fours {
        let (a, b, c, d) = (row(four[0]), row(four[1]), row(four[2]), row(four[3]));
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
/// Combines each of `sums` with a later sum.
fn append<W: Copy, C: Combine<W>>(sums: &mut [W], later: &[W]) {
    sums.iter_mut().zip(later).for_each(|(sum, &later)| *sum = C::combine(*sum, later));
}
}

vectorised! {
/// Makes the results: the initial value combined with each of `sums`.
fn finish<T: Element, C: Combine<T::Wide>>(init: T::Wide, sums: &[T::Wide], results: &mut [T]) {
    results.iter_mut().zip(sums).for_each(|(result, &sum)| *result = T::narrow(C::combine(init, sum)));
}
}

vectorised! {
/// Combines each of `sums` with every `stride`th element, while both last.
fn fold_strided<S: Element, C: Combine<S::Wide>>(src: &[S], stride: usize, sums: &mut [S::Wide]) {
    if stride == 1 {
        for (sum, x) in sums.iter_mut().zip(src) {
            *sum = C::combine(*sum, x.widen());
        }
    } else if stride == 2 {
        // Whole pairs are loaded as vectors.
        let pairs = src.chunks_exact(2);
        let (paired, others) = sums.split_at_mut(sums.len().min(pairs.len()));
        for (sum, x) in others.iter_mut().zip(pairs.remainder()) {
            *sum = C::combine(*sum, x.widen());
        }
        for (sum, pair) in paired.iter_mut().zip(pairs) {
            *sum = C::combine(*sum, pair[0].widen());
        }
    } else {
        for (sum, x) in sums.iter_mut().zip(src.iter().step_by(stride)) {
            *sum = C::combine(*sum, x.widen());
        }
    }
}
}
