//! Products of large matrices in blocks whose results stay in the L2 cache while all their parts are added.
//!
//! Each element is summed in parts of at most [`Number::TERMS`] products, and the parts are added. `gemm` passes over
//! the whole result for each part, which takes a seventh of the time of 1024 x 1024 x 1024 on processors with AVX2. The
//! micro-kernel here has the shape of `gemm`'s, and adds the same products in the same order.

use oxcall::Error;

use super::Number;
use super::matmul::{Mat, MatMut, Shape};
use super::number::SHORT;
use crate::kernel::Context;
use crate::math::level::{self, Best, Level, with_level};
use crate::memory::Scratch;

/// Rows of a tile: with [`COLUMNS`], twelve of the sixteen vector registers of AVX2.
const ROWS: usize = 6;

/// Columns of a tile: two vectors.
const COLUMNS: usize = 16;

/// The sums of a tile.
type Tile<C> = [[C; COLUMNS]; ROWS];

/// Rows and columns of a block. Its result and a part of both operands take half of an L2 cache of 512 kB.
const BLOCK: (usize, usize) = (32 * ROWS, 4 * COLUMNS);

/// The products of each sum, and the columns, for which the right operand is packed at a time: 8 MB of `f32`.
const PACKED: (usize, usize) = (1024, 2048);

/// The least rows and columns: with fewer rows, packing the right operand takes longer than blocks save.
const LEAST: (usize, usize) = (256, 64);

/// Whether blocks are faster than `gemm`: for several parts, and without AVX-512, for which `gemm` has larger tiles.
pub(super) fn fits<C: Number>(Shape { m, n, k }: Shape, out: &MatMut<'_, C>) -> bool {
    // Without optimisation there is one level, and tests run these blocks on it.
    let is_level = cfg!(debug_assertions) || level::best() == Best::Avx2;
    C::IN_BLOCKS && is_level && k > SHORT && m >= LEAST.0 && n >= LEAST.1 && out.has_dense_rows()
}

/// `out = a b`, or `out += a b`, for matrices that [fit](fits), on `threads` threads; parts of sums have `terms`
/// products.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory runs out.
pub(super) fn multiply<C: Number>(
    cx: Context<'_>,
    threads: usize,
    terms: usize,
    [a, b]: [Mat<'_, C>; 2],
    mut out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    // Whole parts, so that sums do not depend on the division.
    let depth = (PACKED.0 / terms).max(1) * terms;
    let pieces = a.rows.div_ceil(BLOCK.0).next_multiple_of(threads);
    let rows = a.rows.div_ceil(pieces).next_multiple_of(ROWS);
    for left in (0..b.cols).step_by(PACKED.1) {
        let cols = PACKED.1.min(b.cols - left);
        for top in (0..b.rows).step_by(depth) {
            let b = b.part([top, left], [depth, cols]);
            let packed_b = pack_right(cx, threads, b)?;
            let block = |first: usize, mut out: MatMut<'_, C>| -> Result<(), Error> {
                let a = a.part([first, top], [rows, depth]);
                let panels = a.rows.div_ceil(ROWS);
                let mut packed_a = cx.scratch::<C>(panels * ROWS * a.cols)?;
                pack::<C, ROWS>(a, bytemuck::cast_slice_mut(&mut packed_a));
                let mut sums = cx.scratch::<C>(panels * ROWS * BLOCK.1)?;
                let sums = bytemuck::cast_slice_mut(bytemuck::cast_slice_mut::<C, [C; COLUMNS]>(&mut sums));
                let (depth, accumulate) = (a.cols, accumulate || top > 0);
                with_level!(L => L::enter(|| {
                    add_parts::<L, C>(depth, terms, [&packed_a, &packed_b], sums, &mut out, accumulate);
                }));
                Ok(())
            };
            let mut out = out.columns(left, cols);
            if threads == 1 {
                for first in (0..a.rows).step_by(rows) {
                    block(first, out.part_of_rows(first, rows.min(a.rows - first)))?;
                }
            } else {
                let (stride, data) = out.rows_apart();
                cx.pool.split_chunks(data, rows * stride, |start, chunk| {
                    let first = start / stride;
                    block(first, MatMut::new(chunk, [rows.min(a.rows - first), cols], [stride, 1]))
                })?;
            }
        }
    }
    Ok(())
}

/// Panels of columns of `b`, packed by `threads` threads.
fn pack_right<C: Number>(cx: Context<'_>, threads: usize, b: Mat<'_, C>) -> Result<Scratch<C>, Error> {
    let (panels, depth) = (b.cols.div_ceil(COLUMNS), b.rows);
    let mut packed = cx.scratch::<C>(panels * COLUMNS * depth)?;
    let some = |first: usize, chunk: &mut [C]| {
        let columns = b.transposed().part([first / depth, 0], [chunk.len() / depth, depth]);
        pack::<C, COLUMNS>(columns, bytemuck::cast_slice_mut(chunk));
    };
    if threads == 1 {
        some(0, &mut packed);
    } else {
        cx.pool.split_chunks(&mut packed, panels.div_ceil(2 * threads) * COLUMNS * depth, some);
    }
    Ok(packed)
}

/// Packs rows in panels of `N`, in which the elements of each column are neighbours. Rows beyond the last are zeros.
fn pack<C: Number, const N: usize>(rows: Mat<'_, C>, packed: &mut [[C; N]]) {
    let depth = rows.cols;
    let whole = rows.rows / N;
    if rows.has_dense_columns() {
        for k in 0..depth {
            let column = rows.column(k);
            for (panel, from) in column.as_chunks::<N>().0.iter().enumerate() {
                packed[panel * depth + k] = *from;
            }
        }
    } else {
        for (panel, packed) in packed.chunks_exact_mut(depth).take(whole).enumerate() {
            if rows.has_dense_rows() {
                let rows: [&[C]; N] = std::array::from_fn(|row| &rows.row(panel * N + row)[..packed.len()]);
                packed.iter_mut().enumerate().for_each(|(k, to)| *to = std::array::from_fn(|row| rows[row][k]));
            } else {
                let at = |k: usize| std::array::from_fn(|row| rows.at(panel * N + row, k));
                packed.iter_mut().enumerate().for_each(|(k, to)| *to = at(k));
            }
        }
    }
    for (k, to) in packed[whole * depth..].iter_mut().enumerate() {
        let at = |row: usize| if row < rows.rows { rows.at(row, k) } else { C::ZERO };
        *to = std::array::from_fn(|row| at(whole * N + row));
    }
}

/// Adds the products of packed rows and packed columns to `out`, or stores them, part by part. `sums` has room for the
/// tiles of a block, where the elements of each are neighbours: rows of the result are often a multiple of 4 kB apart,
/// and would take each other's place in the caches.
#[inline(always)]
fn add_parts<L: Level, C: Number>(
    depth: usize,
    terms: usize,
    [a, b]: [&[C]; 2],
    sums: &mut [Tile<C>],
    out: &mut MatMut<'_, C>,
    accumulate: bool,
) {
    let (a, b): (&[[C; ROWS]], &[[C; COLUMNS]]) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
    let (rows, cols) = out.sizes();
    for left in (0..cols).step_by(BLOCK.1) {
        let columns = || (left..cols.min(left + BLOCK.1)).step_by(COLUMNS);
        let places = || columns().flat_map(|column| (0..rows).step_by(ROWS).map(move |row| [row, column]));
        if accumulate {
            for ([row, column], sums) in places().zip(&mut *sums) {
                each_row(out, [row, column], sums, |out, sums| sums[..out.len()].copy_from_slice(out));
            }
        }
        for start in (0..depth).step_by(terms) {
            let len = terms.min(depth - start);
            for (column, sums) in columns().zip(sums.chunks_exact_mut(rows.div_ceil(ROWS))) {
                let b = &b[column / COLUMNS * depth + start..][..len];
                for (panel, sums) in sums.iter_mut().enumerate() {
                    let part = tile::<L, C>(&a[panel * depth + start..][..len], b);
                    if accumulate || start > 0 {
                        add_tile(sums, &part);
                    } else {
                        *sums = part;
                    }
                }
            }
        }
        for ([row, column], sums) in places().zip(&mut *sums) {
            each_row(out, [row, column], sums, |out, sums| match out.as_mut_array() {
                // The length of a whole row is a constant.
                Some(out) => *out = *sums,
                None => out.copy_from_slice(&sums[..out.len()]),
            });
        }
    }
}

/// Calls `with` with each row of `out` in the tile at `place`, and that row's sums.
#[inline(always)]
fn each_row<C: Number>(
    out: &mut MatMut<'_, C>,
    [row, column]: [usize; 2],
    sums: &mut Tile<C>,
    with: impl Fn(&mut [C], &mut [C; COLUMNS]),
) {
    let (rows, cols) = out.sizes();
    for (row, sums) in (row..rows).zip(sums) {
        with(&mut out.row(row)[column..cols.min(column + COLUMNS)], sums);
    }
}

/// Adds row by row, in variables of its own: LLVM adds elements of two arrays behind references one by one.
#[inline(always)]
fn add_tile<C: Number>(sums: &mut Tile<C>, part: &Tile<C>) {
    for (sums, part) in sums.iter_mut().zip(part) {
        let mut row = *sums;
        for column in 0..COLUMNS {
            row[column] = row[column].plus(part[column]);
        }
        *sums = row;
    }
}

/// The sums of products of a tile, four products a turn. Sums in separate variables stay in vector registers; as an
/// array of arrays they do not.
#[inline(always)]
fn tile<L: Level, C: Number>(a: &[[C; ROWS]], b: &[[C; COLUMNS]]) -> Tile<C> {
    let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5] = [[C::ZERO; COLUMNS]; ROWS];
    // A closure would be a function without the vectors of its caller.
    macro_rules! add_products {
        ($a:expr, $b:expr) => {
            for (a, b) in $a.iter().zip($b) {
                add_product::<L, C>(&mut s0, a[0], b);
                add_product::<L, C>(&mut s1, a[1], b);
                add_product::<L, C>(&mut s2, a[2], b);
                add_product::<L, C>(&mut s3, a[3], b);
                add_product::<L, C>(&mut s4, a[4], b);
                add_product::<L, C>(&mut s5, a[5], b);
            }
        };
    }
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        add_products!(a, b);
    }
    add_products!(last_a, last_b);
    [s0, s1, s2, s3, s4, s5]
}

#[inline(always)]
fn add_product<L: Level, C: Number>(sums: &mut [C; COLUMNS], factor: C, b: &[C; COLUMNS]) {
    for column in 0..COLUMNS {
        sums[column] = sums[column].plus_fused::<L>(factor, b[column]);
    }
}
