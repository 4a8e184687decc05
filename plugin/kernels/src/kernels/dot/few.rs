//! Products of a large matrix and a few vectors, as in a layer of a few examples. They are bound by memory, so that the
//! matrix is read once: some of its lines stay in the cache while each vector is multiplied.

use oxcall::Error;

use super::Number;
use super::matmul::{Mat, MatMut};
use super::vector::{LINES, add_dots, add_multiples, add_sums};
use crate::kernel::Context;

/// The most vectors, and the fewest bytes of a matrix. For others, panels of a product are worth their copies.
#[derive(Debug, Clone, Copy)]
struct Limits {
    vectors: usize,
    bytes: usize,
}

/// Those of matrices with dense rows, each of which is multiplied with each vector.
const BY_ROW: Limits = Limits { vectors: 32, bytes: 1 << 20 };

/// Those of matrices with dense columns, whose multiples are added to results that are loaded and stored.
const BY_COLUMN: Limits = Limits { vectors: 4, bytes: 4 << 20 };

/// The bytes of vectors, and of results of one thread, that stay in the second cache beside lines of the matrix.
const NEAR: usize = 256 << 10;

/// The fewest products of each sum.
const FEWEST: usize = 128;

/// The bytes of lines that stay in the cache.
const BLOCK: usize = 64 << 10;

/// Whether a product of a matrix of so many bytes, whose rows are dense, and so many vectors reads the matrix in place.
pub fn reads_rows(bytes: usize, vectors: usize) -> bool {
    vectors <= BY_ROW.vectors && bytes >= BY_ROW.bytes
}

/// Whether a product of `matrix` and so many vectors is one of these.
pub(super) fn fits<C: Number>(matrix: Mat<'_, C>, vectors: usize) -> bool {
    let (terms, bytes) = (matrix.cols, size_of::<C>());
    let limits = match () {
        () if matrix.has_dense_rows() => BY_ROW,
        () if matrix.has_dense_columns() => BY_COLUMN,
        () => return false,
    };
    C::IN_TILES
        && (2..=limits.vectors).contains(&vectors)
        && terms >= FEWEST
        && matrix.rows.saturating_mul(terms).saturating_mul(bytes) >= limits.bytes
        && terms.saturating_mul(vectors * bytes) <= NEAR
}

/// `out = matrix vectors`, or `out += matrix vectors`, for those that [fit](fits), on `threads` threads.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory runs out.
pub(super) fn multiply<C: Number>(
    cx: Context<'_>,
    threads: usize,
    matrix: Mat<'_, C>,
    vectors: Mat<'_, C>,
    mut out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    let (rows, terms, count) = (matrix.rows, matrix.cols, vectors.cols);
    let mut memory = cx.scratch(count * terms)?;
    vectors.transposed().copy_to(&mut memory);
    let vectors: &[C] = &memory;
    // The sums of each piece of rows, vector by vector.
    let mut sums = cx.filled(rows * count, C::ZERO)?;
    let (data, stride, by_column) = matrix.lines([0, 0]);
    let piece = if by_column && rows * count * size_of::<C>() <= NEAR {
        add_sums(cx, threads, terms, &mut sums, |terms, sums| {
            add_columns(&data[terms.start * stride..], stride, vectors, [matrix.cols, terms.start, terms.len()], sums);
        })?;
        rows
    } else {
        let piece = rows.div_ceil(threads).next_multiple_of(16);
        cx.pool.split_chunks(&mut sums, piece * count, |start, sums| {
            let first = start / count;
            if by_column {
                add_columns(&data[first..], stride, vectors, [terms, 0, terms], sums);
            } else {
                add_rows(&data[first * stride..], stride, vectors, terms, sums);
            }
        });
        piece
    };
    for (index, sums) in sums.chunks(piece * count).enumerate() {
        for (column, sums) in sums.chunks_exact(sums.len() / count).enumerate() {
            for (row, &sum) in sums.iter().enumerate() {
                let to = out.at(index * piece + row, column);
                *to = if accumulate { to.plus(sum) } else { sum };
            }
        }
    }
    Ok(())
}

/// Adds the products of rows, which are `stride` apart, with each of `vectors` of `terms` elements.
fn add_rows<C: Number>(data: &[C], stride: usize, vectors: &[C], terms: usize, sums: &mut [C]) {
    let rows = sums.len() / (vectors.len() / terms);
    for first in (0..rows).step_by(LINES) {
        let some = first..(first + LINES).min(rows);
        for (vector, sums) in vectors.chunks_exact(terms).zip(sums.chunks_exact_mut(rows)) {
            add_dots(&data[first * stride..], stride, vector, &mut sums[some.clone()]);
        }
    }
}

/// Adds the multiples of `count` columns, which are `stride` apart, by the elements from `start` on of each of
/// `vectors`, which have `terms`.
fn add_columns<C: Number>(data: &[C], stride: usize, vectors: &[C], [terms, start, count]: [usize; 3], sums: &mut [C]) {
    let rows = sums.len() / (vectors.len() / terms);
    let together = (BLOCK / (rows * size_of::<C>())).next_multiple_of(LINES).max(LINES);
    for first in (0..count).step_by(together) {
        let some = start + first..start + count.min(first + together);
        for (vector, sums) in vectors.chunks_exact(terms).zip(sums.chunks_exact_mut(rows)) {
            add_multiples(&data[first * stride..], stride, &vector[some.clone()], sums);
        }
    }
}
