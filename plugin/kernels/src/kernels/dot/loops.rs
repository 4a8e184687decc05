//! Products by plain loops: of integers, and of matrices too small for `gemm`.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use oxcall::Error;

use super::Number;
use super::matmul::{Mat, MatMut, Shape};
use super::vector::dot;
use crate::kernel::Context;
use crate::math::level::vectorised;

/// The rows and columns of the right operand in a block, chosen so that reused elements stay in the L1 cache.
const BLOCK: (usize, usize) = (64, 256);

vectorised! {
/// `out = a b`, or `out += a b`, by loops.
pub(super) fn multiply<C: Number>(
    cx: Context<'_>,
    a: Mat<'_, C>,
    b: Mat<'_, C>,
    out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    product(cx, a, b, out, accumulate)
}
}

vectorised! {
/// Like [`multiply`], for each of many small batches: `batch(i)` gives the operands, and `out` holds the results in
/// order.
pub(super) fn multiply_each<'a, C: Number + 'a>(
    cx: Context<'_>,
    shape: Shape,
    batch: impl Fn(usize) -> (Mat<'a, C>, Mat<'a, C>),
    out: &mut [C],
) -> Result<(), Error> {
    for (index, out) in out.chunks_exact_mut(shape.m * shape.n).enumerate() {
        let (a, b) = batch(index);
        product(cx, a, b, MatMut::row_major(out, [shape.m, shape.n]), false)?;
    }
    Ok(())
}
}

/// The most columns that are copied, sixteen at a time, so that sums of them stay in registers.
const NARROW: usize = 64;

/// Matrices of a few elements, at even distances: the elements, the distances of neighbours in a column and in a row,
/// and that of matrices.
#[derive(Clone, Copy)]
pub(super) struct Tiny<'a, C> {
    pub(super) elements: &'a [C],
    pub(super) strides: [usize; 2],
    pub(super) distance: usize,
}

/// The most products in a sum of tiny matrices, and the most of all their sums.
pub(super) const TINY: (usize, usize) = (4, 64);

/// Like [`multiply_each`], for tiny matrices, in the same order: a call for each takes longer than its products. The
/// first matrices are those at `first`.
pub(super) fn multiply_tiny<C: Number>(shape: Shape, first: usize, [a, b]: [Tiny<'_, C>; 2], out: &mut [C]) {
    match shape.k {
        1 => tiny::<C, 1>(shape, first, [a, b], out),
        2 => tiny::<C, 2>(shape, first, [a, b], out),
        3 => tiny::<C, 3>(shape, first, [a, b], out),
        _ => tiny::<C, 4>(shape, first, [a, b], out),
    }
}

#[inline(always)]
fn tiny<C: Number, const K: usize>(shape: Shape, first: usize, [a, b]: [Tiny<'_, C>; 2], out: &mut [C]) {
    let Shape { m, n, .. } = shape;
    for (index, out) in (first..).zip(out.chunks_exact_mut(m * n)) {
        let (a_start, b_start) = (index * a.distance, index * b.distance);
        for (i, row) in out.chunks_exact_mut(n).enumerate() {
            let factors: [C; K] = std::array::from_fn(|k| a.elements[a_start + i * a.strides[0] + k * a.strides[1]]);
            for (j, out) in row.iter_mut().enumerate() {
                let at = |k: usize| b.elements[b_start + k * b.strides[0] + j * b.strides[1]];
                let products = factors[0].times(at(0));
                let sum = (1..K).fold(products, |sum, k| sum.plus_product(factors[k], at(k)));
                *out = C::ZERO.plus(sum);
            }
        }
    }
}

#[inline(always)]
fn product<C: Number>(
    cx: Context<'_>,
    a: Mat<'_, C>,
    b: Mat<'_, C>,
    mut out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    if !accumulate {
        out.for_each_row(|row| row.fill(C::ZERO), |element| *element = C::ZERO);
    }
    if C::IS_EXACT && a.has_dense_rows() && b.has_dense_columns() {
        dots(a, b, out);
        return Ok(());
    }
    if !out.has_dense_rows() {
        elements(a, b, out);
        return Ok(());
    }
    // Narrow products of floats have kernels of their own.
    let is_known = b.has_dense_rows() && matches!(b.cols, 4 | 8 | 16);
    if C::IS_EXACT && a.rows >= 16 && (2..=NARROW).contains(&b.cols) && !is_known {
        for column in (0..b.cols).step_by(16) {
            let b = b.part([0, column], [b.rows, 16]);
            let out = out.columns(column, b.cols);
            match b.cols {
                ..5 => padded_rows::<C, 4>(cx, a, b, out)?,
                5..9 => padded_rows::<C, 8>(cx, a, b, out)?,
                _ => padded_rows::<C, 16>(cx, a, b, out)?,
            }
        }
        return Ok(());
    }
    if b.has_dense_rows() {
        rows(a, b, out);
        return Ok(());
    }
    if a.rows < 4 || b.rows * b.cols < 64 {
        elements(a, b, out);
        return Ok(());
    }
    let mut tile = cx.scratch(b.rows.min(BLOCK.0) * b.cols.min(BLOCK.1))?;
    for k in (0..b.rows).step_by(BLOCK.0) {
        for column in (0..b.cols).step_by(BLOCK.1) {
            let part = b.part([k, column], [BLOCK.0, BLOCK.1]);
            part.copy_to(&mut tile[..part.rows * part.cols]);
            let dense = Mat::new(&tile, [part.rows, part.cols], [part.cols, 1]);
            rows(a.part([0, k], [a.rows, BLOCK.0]), dense, out.columns(column, part.cols));
        }
    }
    Ok(())
}

/// Adds multiples of rows of `b` to rows of `out`, both dense.
#[inline(always)]
fn rows<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, out: MatMut<'_, C>) {
    match b.cols {
        4 => known_rows::<C, 4>(a, b, out),
        8 => known_rows::<C, 8>(a, b, out),
        16 => known_rows::<C, 16>(a, b, out),
        _ => any_rows(a, b, out),
    }
}

/// [`rows`] of `N` elements, which stay in registers.
#[inline(always)]
fn known_rows<C: Number, const N: usize>(a: Mat<'_, C>, b: Mat<'_, C>, mut out: MatMut<'_, C>) {
    let whole = b.rows / 4 * 4;
    let line = |k: usize| -> &[C; N] { b.row(k).first_chunk().expect("rows have this length") };
    for i in 0..a.rows {
        let row: &mut [C; N] = out.row(i).first_chunk_mut().expect("rows have this length");
        let mut sums = *row;
        for k in (0..whole).step_by(4) {
            let (a0, a1, a2, a3) = (a.at(i, k), a.at(i, k + 1), a.at(i, k + 2), a.at(i, k + 3));
            let (b0, b1, b2, b3) = (line(k), line(k + 1), line(k + 2), line(k + 3));
            for j in 0..N {
                let sum = a0.times(b0[j]).plus_product(a1, b1[j]);
                sums[j] = sums[j].plus(sum.plus_product(a2, b2[j]).plus_product(a3, b3[j]));
            }
        }
        for k in whole..b.rows {
            let (factor, b) = (a.at(i, k), line(k));
            for j in 0..N {
                sums[j] = sums[j].plus_product(factor, b[j]);
            }
        }
        *row = sums;
    }
}

/// [`rows`] of at most `N` elements, which are copied with zeros behind them.
#[inline(always)]
fn padded_rows<C: Number, const N: usize>(
    cx: Context<'_>,
    a: Mat<'_, C>,
    b: Mat<'_, C>,
    mut out: MatMut<'_, C>,
) -> Result<(), Error> {
    // Bounded: a few elements for each row of a block.
    let mut tile = cx.scratch::<C>(b.rows.min(BLOCK.0) * N)?;
    let mut sums = cx.scratch::<C>(a.rows.min(BLOCK.1) * N)?;
    for first in (0..a.rows).step_by(BLOCK.1) {
        let count = BLOCK.1.min(a.rows - first);
        let sums = &mut sums[..count * N];
        for (i, sums) in sums.chunks_exact_mut(N).enumerate() {
            sums.fill(C::ZERO);
            sums[..b.cols].copy_from_slice(out.row(first + i));
        }
        for k in (0..b.rows).step_by(BLOCK.0) {
            let part = b.part([k, 0], [BLOCK.0, b.cols]);
            let tile = &mut tile[..part.rows * N];
            tile.fill(C::ZERO);
            for (row, line) in tile.chunks_exact_mut(N).enumerate() {
                for (column, element) in line[..b.cols].iter_mut().enumerate() {
                    *element = part.at(row, column);
                }
            }
            let part = a.part([first, k], [count, BLOCK.0]);
            let dense = Mat::new(tile, [tile.len() / N, N], [N, 1]);
            known_rows::<C, N>(part, dense, MatMut::row_major(sums, [count, N]));
        }
        for (i, sums) in sums.chunks_exact(N).enumerate() {
            out.row(first + i).copy_from_slice(&sums[..b.cols]);
        }
    }
    Ok(())
}

/// [`rows`] of any length.
#[inline(always)]
fn any_rows<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, mut out: MatMut<'_, C>) {
    for block in (0..b.rows).step_by(BLOCK.0) {
        let end = (block + BLOCK.0).min(b.rows);
        for i in 0..a.rows {
            let row = out.row(i);
            let mut k = block;
            while k + 4 <= end {
                let factors = [0, 1, 2, 3].map(|step| a.at(i, k + step));
                let [b0, b1, b2, b3] = [0, 1, 2, 3].map(|step| &b.row(k + step)[..row.len()]);
                for (j, out) in row.iter_mut().enumerate() {
                    // A separate sum has a quarter of the errors of long sums.
                    let sum = factors[0].times(b0[j]).plus_product(factors[1], b1[j]);
                    *out = out.plus(sum.plus_product(factors[2], b2[j]).plus_product(factors[3], b3[j]));
                }
                k += 4;
            }
            for k in k..end {
                let factor = a.at(i, k);
                for (out, &b) in row.iter_mut().zip(b.row(k)) {
                    *out = out.plus_product(factor, b);
                }
            }
        }
    }
}

/// Adds products of dense rows and columns.
#[inline(always)]
fn dots<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, mut out: MatMut<'_, C>) {
    for i in 0..a.rows {
        for j in 0..b.cols {
            let out = out.at(i, j);
            *out = out.plus(dot(a.row(i), b.column(j)));
        }
    }
}

/// The number of sums side by side in a product of vectors with any strides.
const CHAINS: usize = 4;

/// Computes element by element, with any strides.
#[inline(always)]
fn elements<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, mut out: MatMut<'_, C>) {
    for i in 0..a.rows {
        for j in 0..b.cols {
            // Chains side by side: one addition does not wait for the one before. As an array they would be in memory.
            let [mut s0, mut s1, mut s2, mut s3] = [C::ZERO; CHAINS];
            let whole = a.cols / CHAINS * CHAINS;
            let times = |sum: C, k: usize| sum.plus_product(a.at(i, k), b.at(k, j));
            for k in (0..whole).step_by(CHAINS) {
                (s0, s1, s2, s3) = (times(s0, k), times(s1, k + 1), times(s2, k + 2), times(s3, k + 3));
            }
            let rest = (whole..a.cols).fold(s0, times);
            let out = out.at(i, j);
            *out = out.plus(rest.plus(s1).plus(s2.plus(s3)));
        }
    }
}
