//! Products of a matrix and a vector: bound by memory, so the matrix is read once, in its own order.

use std::ops::Range;

use multiversion::multiversion;
use rayon::prelude::*;

use super::Number;
use super::matmul::Mat;

/// Partial sums that are added side by side; a float sum is otherwise as slow as one addition after the other.
const LANES: usize = 16;

/// Fewer elements of a result than this are not split among threads.
const PIECE: usize = 64;

/// `out = matrix vector`, or `out += matrix vector`, on `threads` threads of rayon. The rows or the columns of `matrix`
/// are dense.
pub(super) fn multiply<C: Number>(
    threads: usize,
    matrix: Mat<'_, C>,
    vector: Mat<'_, C>,
    out: &mut [C],
    accumulate: bool,
) {
    if !accumulate {
        out.fill(C::ZERO);
    }
    let column = vector.first_column();
    let vector: &[C] = &column;
    if threads == 1 {
        return add_part(matrix, vector, 0, 0..matrix.cols, out);
    }
    if out.len() >= PIECE * threads {
        let piece = out.len().div_ceil(threads).next_multiple_of(16);
        let pieces = out.par_chunks_mut(piece).enumerate();
        return pieces.for_each(|(i, out)| add_part(matrix, vector, i * piece, 0..matrix.cols, out));
    }
    let piece = matrix.cols.div_ceil(threads);
    let partial: Vec<Vec<C>> = (0..threads)
        .into_par_iter()
        .map(|i| {
            let mut sums = vec![C::ZERO; out.len()];
            let range = (i * piece).min(matrix.cols)..((i + 1) * piece).min(matrix.cols);
            add_part(matrix, vector, 0, range, &mut sums);
            sums
        })
        .collect();
    for sums in partial {
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = out.plus(sum));
    }
}

/// Adds the products of `columns` to `out`, which starts at row `first`.
#[multiversion(targets = "simd")]
fn add_part<C: Number>(matrix: Mat<'_, C>, vector: &[C], first: usize, columns: Range<usize>, out: &mut [C]) {
    if matrix.has_dense_rows() {
        let vector = &vector[columns.clone()];
        for (i, out) in out.iter_mut().enumerate() {
            *out = out.plus(dot(&matrix.row(first + i)[columns.clone()], vector));
        }
        return;
    }
    let transposed = matrix.transposed();
    let rows = first..first + out.len();
    let mut k = columns.start;
    while k + 4 <= columns.end {
        let factors = [0, 1, 2, 3].map(|step| vector[k + step]);
        let [a, b, c, d] = [0, 1, 2, 3].map(|step| &transposed.row(k + step)[rows.clone()]);
        for (i, out) in out.iter_mut().enumerate() {
            let sum = out.plus_product(a[i], factors[0]).plus_product(b[i], factors[1]);
            *out = sum.plus_product(c[i], factors[2]).plus_product(d[i], factors[3]);
        }
        k += 4;
    }
    for (k, &factor) in (k..columns.end).zip(&vector[k..]) {
        for (out, &element) in out.iter_mut().zip(&transposed.row(k)[rows.clone()]) {
            *out = out.plus_product(element, factor);
        }
    }
}

#[inline(always)]
fn dot<C: Number>(a: &[C], b: &[C]) -> C {
    let mut sums = [[C::ZERO; LANES]; 2];
    let (a, a_tail) = a.as_chunks::<{ 2 * LANES }>();
    let (b, b_tail) = b.as_chunks::<{ 2 * LANES }>();
    for (a, b) in a.iter().zip(b) {
        for (half, sums) in sums.iter_mut().enumerate() {
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum = sum.plus_product(a[half * LANES + lane], b[half * LANES + lane]);
            }
        }
    }
    for ((sum, &a), &b) in sums.as_flattened_mut().iter_mut().zip(a_tail).zip(b_tail) {
        *sum = sum.plus_product(a, b);
    }
    let [mut sums, others] = sums;
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.plus(other));
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] = sums[lane].plus(sums[lane + width]);
        }
    }
    sums[0]
}
