//! Products of strided matrices.

use gemm::Parallelism;
use gemm_common::cache::CACHE_INFO;
use oxcall::Error;

use super::number::SHORT;
use super::{Number, blocks, few, long, loops, thin, tiles, vector};
use crate::caches;
use crate::kernel::Context;
use crate::kernels::movement::transposed_copy;
use crate::memory::{Scratch, room};
use crate::pool::Cost;

/// With fewer multiplications than this, loops are used: `gemm` takes longer to choose its blocks.
const SMALL: usize = 512;

/// With more multiplications than this, a matrix with dense rows is multiplied by a vector in lanes, which blocks of
/// machine code are not.
pub(super) const FEW: usize = 128;

/// The number of terms above which the product of two vectors counts as long.
const MANY_TERMS: usize = 32;

/// The fewest rows and columns of a right operand that is copied.
const LEAST_COPIED: usize = 16;

/// The sizes of a product: `m` by `k` times `k` by `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kernels) struct Shape {
    /// Rows of the result.
    pub(in crate::kernels) m: usize,
    /// Columns of the result.
    pub(in crate::kernels) n: usize,
    /// Products in each sum.
    pub(in crate::kernels) k: usize,
}

impl Shape {
    /// The arithmetic of one product.
    pub(in crate::kernels) fn cost<C: Number>(self) -> Cost {
        Cost { flops: C::COST * self.m as f64 * self.n as f64 * self.k as f64, bytes: 0.0 }
    }

    /// Whether loops are faster than `gemm`.
    pub(in crate::kernels) fn is_small(self) -> bool {
        self.m * self.n * self.k <= SMALL
    }

    /// Whether it is a product of two long vectors, which is summed in lanes.
    pub(super) fn is_long_dot(self) -> bool {
        self.m * self.n == 1 && self.k > MANY_TERMS
    }
}

/// A matrix in a slice: element `(i, j)` is at `i * row_stride + j * col_stride`.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernels) struct Mat<'a, C> {
    data: &'a [C],
    pub(super) rows: usize,
    pub(super) cols: usize,
    row_stride: usize,
    col_stride: usize,
}

/// The highest index of a strided matrix plus one.
fn extent(sizes: [usize; 2], strides: [usize; 2]) -> usize {
    if sizes.contains(&0) { 0 } else { (sizes[0] - 1) * strides[0] + (sizes[1] - 1) * strides[1] + 1 }
}

impl<'a, C: Number> Mat<'a, C> {
    /// The matrix of `sizes` rows and columns with these strides.
    ///
    /// # Panics
    /// If it is not inside `data`.
    #[inline(always)]
    pub(in crate::kernels) fn new(data: &'a [C], sizes: [usize; 2], strides: [usize; 2]) -> Mat<'a, C> {
        assert!(extent(sizes, strides) <= data.len(), "a matrix lies in its slice");
        Mat { data, rows: sizes[0], cols: sizes[1], row_stride: strides[0], col_stride: strides[1] }
    }

    #[inline(always)]
    pub(in crate::kernels) fn transposed(self) -> Mat<'a, C> {
        Mat {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            data: self.data,
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, i: usize, j: usize) -> C {
        self.data[i * self.row_stride + j * self.col_stride]
    }

    #[inline(always)]
    pub(super) fn has_dense_rows(&self) -> bool {
        self.col_stride == 1 || self.cols == 1
    }

    /// Row `i`, of a matrix with dense rows.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &'a [C] {
        &self.data[i * self.row_stride..][..self.cols]
    }

    /// The elements from `place` on, the distance of rows or columns, and whether the columns are dense.
    pub(super) fn lines(&self, place: [usize; 2]) -> (&'a [C], usize, bool) {
        let data = &self.data[place[0] * self.row_stride + place[1] * self.col_stride..];
        if self.has_dense_rows() { (data, self.row_stride, false) } else { (data, self.col_stride, true) }
    }

    /// The elements of the first column, copied to `memory` if they are not contiguous.
    pub(super) fn first_column<'b>(&self, cx: Context<'_>, memory: &'b mut Scratch<C>) -> Result<&'b [C], Error>
    where
        'a: 'b,
    {
        if self.has_dense_columns() {
            return Ok(self.column(0));
        }
        *memory = cx.scratch(self.rows)?;
        memory.iter_mut().enumerate().for_each(|(i, to)| *to = self.at(i, 0));
        Ok(memory)
    }

    #[inline(always)]
    pub(super) fn has_dense_columns(&self) -> bool {
        self.row_stride == 1 || self.rows == 1
    }

    /// Whether a right operand should be copied so that its rows become dense: `gemm` packs dense columns one element
    /// at a time, which takes up to half of the time of a product.
    fn is_worth_a_copy(&self) -> bool {
        self.row_stride == 1 && self.col_stride > 1 && self.rows.min(self.cols) >= LEAST_COPIED
    }

    /// Column `j`, of a matrix with dense columns.
    #[inline(always)]
    pub(super) fn column(&self, j: usize) -> &'a [C] {
        &self.data[j * self.col_stride..][..self.rows]
    }

    /// The part from `start` on, at most `sizes` large.
    #[inline(always)]
    pub(in crate::kernels) fn part(&self, start: [usize; 2], sizes: [usize; 2]) -> Mat<'a, C> {
        let sizes = [sizes[0].min(self.rows - start[0]), sizes[1].min(self.cols - start[1])];
        let data = &self.data[start[0] * self.row_stride + start[1] * self.col_stride..];
        Mat::new(data, sizes, [self.row_stride, self.col_stride])
    }

    /// Copies the elements, row by row.
    #[inline(always)]
    pub(super) fn copy_to(&self, out: &mut [C]) {
        for (i, row) in out.chunks_exact_mut(self.cols).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, to)| *to = self.at(i, j));
        }
    }
}

/// A matrix to be written; no two elements share a place.
#[derive(Debug)]
pub(in crate::kernels) struct MatMut<'a, C> {
    data: &'a mut [C],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, C: Number> MatMut<'a, C> {
    /// The matrix of `sizes` rows and columns with these strides.
    ///
    /// # Panics
    /// If it is not inside `data`, or elements may share a place.
    #[inline(always)]
    pub(in crate::kernels) fn new(data: &'a mut [C], sizes: [usize; 2], strides: [usize; 2]) -> MatMut<'a, C> {
        let [rows, cols] = sizes;
        let [row_stride, col_stride] = strides;
        assert!(extent(sizes, strides) <= data.len(), "a matrix lies in its slice");
        let rows_apart = rows <= 1 || row_stride > cols.saturating_sub(1) * col_stride && (cols <= 1 || col_stride > 0);
        let cols_apart = cols <= 1 || col_stride > rows.saturating_sub(1) * row_stride && (rows <= 1 || row_stride > 0);
        assert!(rows_apart || cols_apart, "the elements of a result are apart");
        MatMut { data, rows, cols, row_stride, col_stride }
    }

    /// A dense matrix.
    #[inline(always)]
    pub(in crate::kernels) fn row_major(data: &'a mut [C], sizes: [usize; 2]) -> MatMut<'a, C> {
        MatMut::new(data, sizes, [sizes[1], 1])
    }

    #[inline(always)]
    pub(super) fn has_dense_rows(&self) -> bool {
        self.col_stride == 1 || self.cols == 1
    }

    /// Row `i`, of a matrix with dense rows.
    #[inline(always)]
    pub(super) fn row(&mut self, i: usize) -> &mut [C] {
        &mut self.data[i * self.row_stride..][..self.cols]
    }

    #[inline(always)]
    pub(super) fn at(&mut self, i: usize, j: usize) -> &mut C {
        &mut self.data[i * self.row_stride + j * self.col_stride]
    }

    /// Columns from `start` on.
    #[inline(always)]
    pub(super) fn columns(&mut self, start: usize, cols: usize) -> MatMut<'_, C> {
        let data = &mut self.data[start * self.col_stride..];
        MatMut { data, rows: self.rows, cols, row_stride: self.row_stride, col_stride: self.col_stride }
    }

    /// `rows` rows from `start` on.
    pub(in crate::kernels) fn part_of_rows(&mut self, start: usize, rows: usize) -> MatMut<'_, C> {
        let data = &mut self.data[start * self.row_stride..];
        MatMut { data, rows, cols: self.cols, row_stride: self.row_stride, col_stride: self.col_stride }
    }

    /// Calls `dense` with each row, or `single` with each element if rows are not dense.
    #[inline(always)]
    pub(super) fn for_each_row(&mut self, dense: impl Fn(&mut [C]), single: impl Fn(&mut C)) {
        for i in 0..self.rows {
            if self.has_dense_rows() {
                dense(self.row(i));
            } else {
                (0..self.cols).for_each(|j| single(self.at(i, j)));
            }
        }
    }

    /// Rows and columns.
    #[inline(always)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// The distance of rows, which are dense and apart, and the elements from the first to the last.
    pub(super) fn rows_apart(&mut self) -> (usize, &mut [C]) {
        let strides = [self.row_stride, 1];
        (self.row_stride, &mut self.data[..extent([self.rows, self.cols], strides)])
    }

    fn transposed(self) -> MatMut<'a, C> {
        MatMut {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            data: self.data,
        }
    }
}

/// An upper bound of the bytes that `gemm` allocates for a product: blocks of both operands for each level of cache.
fn packed<C>(Shape { m, n, k }: Shape, threads: usize) -> usize {
    let bytes = |lines: usize| (lines + 64).saturating_mul(k).saturating_mul(size_of::<C>());
    let within = |bytes: usize, level: usize| match CACHE_INFO[level].cache_bytes {
        0 => bytes,
        cache => bytes.min(2 * cache),
    };
    within(bytes(n), 2).saturating_add(within(bytes(m), 1)).saturating_add(threads * CACHE_INFO[1].cache_bytes)
}

/// Computes `out = a b`, or with `accumulate` `out += a b`, on `threads` threads.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory runs out.
///
/// # Panics
/// If the sizes do not match.
pub(in crate::kernels) fn multiply<C: Number>(
    cx: Context<'_>,
    threads: usize,
    a: Mat<'_, C>,
    b: Mat<'_, C>,
    mut out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    let Shape { m, n, k } = Shape { m: a.rows, n: b.cols, k: a.cols };
    assert!(b.rows == k && out.rows == m && out.cols == n, "the sizes of a product fit");
    // Loops and vectors need dense rows in the result.
    if !out.has_dense_rows() && out.row_stride == 1 {
        return multiply(cx, threads, b.transposed(), a.transposed(), out.transposed(), accumulate);
    }
    if m == 0 || n == 0 {
        return Ok(());
    }
    let shape = Shape { m, n, k };
    if thin::fits(a, b, &mut out) {
        if threads > 1 {
            return split_rows(cx, threads, a, b, out, accumulate);
        }
        thin::multiply(a, b, out, accumulate);
        return Ok(());
    }
    if n == 1 && m > 1 && m * k > FEW && out.row_stride == 1 && a.col_stride == 1 {
        return vector::multiply(cx, threads, a, b, &mut out.data[..m], accumulate);
    }
    if m == 1 && n > 1 && n * k > FEW && out.has_dense_rows() && b.row_stride == 1 && b.col_stride > 1 {
        return vector::multiply(cx, threads, b.transposed(), a.transposed(), &mut out.data[..n], accumulate);
    }
    if shape.is_small() && !shape.is_long_dot() || k == 0 {
        return loops::multiply(cx, a, b, out, accumulate);
    }
    if n == 1 && (out.row_stride == 1 || m == 1) && (a.row_stride == 1 || a.col_stride == 1) {
        return vector::multiply(cx, threads, a, b, &mut out.data[..m], accumulate);
    }
    if m == 1 && out.has_dense_rows() && (b.row_stride == 1 || b.col_stride == 1) {
        return vector::multiply(cx, threads, b.transposed(), a.transposed(), &mut out.data[..n], accumulate);
    }
    if long::fits(a, b) {
        return long::multiply(cx, threads, a, b, out, accumulate);
    }
    if few::fits(a, n) {
        return few::multiply(cx, threads, a, b, out, accumulate);
    }
    if few::fits(b.transposed(), m) {
        return few::multiply(cx, threads, b.transposed(), a.transposed(), out.transposed(), accumulate);
    }
    let in_lanes = C::IN_LANES && m * n <= 256 && a.col_stride == 1 && b.row_stride == 1;
    if C::IN_GEMM && !in_lanes && b.is_worth_a_copy() {
        let mut rows = cx.scratch(k * n)?;
        transposed_copy(cx.pool, threads > 1, (b.data, b.col_stride), [k, n], &mut rows);
        return multiply(cx, threads, a, Mat::new(&rows, [k, n], [n, 1]), out, accumulate);
    }
    let can_split = threads > 1 && out.row_stride >= n && out.has_dense_rows();
    if (threads == 1 || can_split) && blocks::fits(shape, &out) {
        return blocks::multiply(cx, threads, terms_of::<C>(k), [a, b], out, accumulate);
    }
    if can_split && (!C::IN_GEMM || m >= threads * ROWS) {
        return split_rows(cx, threads, a, b, out, accumulate);
    }
    if !C::IN_GEMM {
        return loops::multiply(cx, a, b, out, accumulate);
    }
    if threads == 1 && tiles::fits(a, b, &out) {
        tiles::multiply(a, b, out, accumulate);
        return Ok(());
    }
    caches::know();
    let terms = if in_lanes { k } else { terms_of::<C>(k) };
    room(packed::<C>(Shape { m, n, k: terms }, threads))?;
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    let mut add_terms = |start: usize| {
        let (a, b) = (a.part([0, start], [m, terms]), b.part([start, 0], [terms, n]));
        // SAFETY: the pointers and strides are those of matrices of m x k, k x n and m x n elements, where k is the
        // number of terms of this part. They lie in live slices by the assertions of `new`; elements of the result are
        // at different places, and exclusively borrowed.
        unsafe {
            gemm::gemm(
                m,
                n,
                a.cols,
                out.data.as_mut_ptr(),
                out.col_stride as isize,
                out.row_stride as isize,
                accumulate || start > 0,
                a.data.as_ptr(),
                a.col_stride as isize,
                a.row_stride as isize,
                b.data.as_ptr(),
                b.col_stride as isize,
                b.row_stride as isize,
                C::ONE,
                C::ONE,
                false,
                false,
                false,
                parallelism,
            );
        }
    };
    cx.pool.in_workers(threads, || (0..k).step_by(terms).for_each(&mut add_terms));
    Ok(())
}

/// The products of each part of sums of `k` products: parts are as long as each other.
fn terms_of<C: Number>(k: usize) -> usize {
    k.div_ceil(k.div_ceil(C::TERMS[usize::from(k > SHORT)]))
}

/// The least rows of a part of a product: to pack the other matrix anew for each part then costs little.
const ROWS: usize = 64;

/// Divides the rows, which are dense in the result, among threads.
fn split_rows<C: Number>(
    cx: Context<'_>,
    threads: usize,
    a: Mat<'_, C>,
    b: Mat<'_, C>,
    mut out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    let parts = (out.rows / ROWS).clamp(threads, 2 * threads);
    let rows = out.rows.div_ceil(parts);
    let cols = out.cols;
    let (stride, data) = out.rows_apart();
    cx.pool.split_chunks(data, rows * stride, |start, chunk| {
        let a = a.part([start / stride, 0], [rows, a.cols]);
        multiply(cx, 1, a, b, MatMut::new(chunk, [a.rows, cols], [stride, 1]), accumulate)
    })
}
