//! Products of matrices with few columns, in tiles that stay in registers.
//!
//! Each element is summed in parts of [`TERMS`] products, and the parts are added. One sum of 64 products has twice the
//! error. `gemm` reads and writes the result once for each part, which takes half as long again for 16 x 64 x 16.

use super::Number;
use super::matmul::{Mat, MatMut};
use crate::math::level::{Level, with_level};

/// The columns of a tile: the floats of a vector of AVX-512.
const COLUMNS: usize = 16;

/// The products that are added one after another.
const TERMS: usize = 16;

/// The rows of the right operand that are read for all tiles before the next ones, so that they stay in the L1 cache.
const BLOCK: usize = 4 * TERMS;

/// Whether tiles match the speed of `gemm`: the result fits in one tile's width, and all rows are dense.
pub(super) fn fits<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, out: &MatMut<'_, C>) -> bool {
    C::IN_TILES
        && b.cols <= COLUMNS
        && a.cols >= TERMS
        && a.has_dense_rows()
        && b.has_dense_rows()
        && out.has_dense_rows()
}

/// `out = a b`, or `out += a b`, for matrices that [fit](fits).
pub(super) fn multiply<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, out: MatMut<'_, C>, accumulate: bool) {
    with_level!(L => L::enter(|| product::<L, C>(a, b, out, accumulate)));
}

#[inline(always)]
fn product<L: Level, C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, mut out: MatMut<'_, C>, accumulate: bool) {
    if b.cols == COLUMNS {
        for start in (0..b.rows).step_by(BLOCK) {
            let (part, stride, _) = b.lines([start, 0]);
            rows::<L, C>(a.part([0, start], [a.rows, BLOCK]), part, stride, &mut out, accumulate || start > 0);
        }
        return;
    }
    // Products of the zeros beside narrower rows are not stored.
    let mut wide = [C::ZERO; BLOCK * COLUMNS];
    for start in (0..b.rows).step_by(BLOCK) {
        let part = b.part([start, 0], [BLOCK, b.cols]);
        for (k, wide) in wide.chunks_exact_mut(COLUMNS).take(part.rows).enumerate() {
            wide[..b.cols].copy_from_slice(part.row(k));
        }
        rows::<L, C>(a.part([0, start], [a.rows, BLOCK]), &wide, COLUMNS, &mut out, accumulate || start > 0);
    }
}

/// Stores the rows of `a b`, or adds them to `out`. Rows of `b` are `stride` apart.
#[inline(always)]
fn rows<L: Level, C: Number>(a: Mat<'_, C>, b: &[C], stride: usize, out: &mut MatMut<'_, C>, accumulate: bool) {
    let mut first = 0;
    while first + 4 <= a.rows {
        let tile = four_rows::<L, C>([0, 1, 2, 3].map(|row| a.row(first + row)), b, stride);
        for (row, sums) in (first..).zip(&tile) {
            put(out.row(row), sums, accumulate);
        }
        first += 4;
    }
    for row in first..a.rows {
        put(out.row(row), &one_row::<L, C>([a.row(row)], b, stride)[0], accumulate);
    }
}

#[inline(always)]
fn put<C: Number>(out: &mut [C], sums: &[C; COLUMNS], accumulate: bool) {
    // The length of a whole tile is a constant.
    if let Ok(out) = <&mut [C; COLUMNS]>::try_from(&mut *out) {
        *out = if accumulate { plus(*out, *sums) } else { *sums };
    } else if accumulate {
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = out.plus(sum));
    } else {
        out.copy_from_slice(&sums[..out.len()]);
    }
}

/// A function that multiplies rows of equal length by `b`. Sums in separate variables stay in vector registers; as an
/// array of arrays they do not.
macro_rules! tile {
    ($name:ident, $count:literal: $($row:ident $sum:ident $part:ident),+) => {
        #[inline(always)]
        fn $name<L: Level, C: Number>(rows: [&[C]; $count], b: &[C], stride: usize) -> [[C; COLUMNS]; $count] {
            let len = rows[0].len();
            let [$(mut $sum),+] = [[C::ZERO; COLUMNS]; $count];
            let mut start = 0;
            // A whole part has a constant length, so the compiler unrolls its loop and drops the bounds checks on rows.
            while start + TERMS <= len {
                let [$(mut $part),+] = [[C::ZERO; COLUMNS]; $count];
                let [$($row),+] = rows.map(|row| row[start..].first_chunk::<TERMS>().expect("a part is in its row"));
                let b = &b[start * stride..][..(TERMS - 1) * stride + COLUMNS];
                for k in 0..TERMS {
                    let b = columns(b, k * stride);
                    $($part = plus_products::<L, C>($part, $row[k], b);)+
                }
                $($sum = plus($sum, $part);)+
                start += TERMS;
            }
            if start < len {
                let [$(mut $part),+] = [[C::ZERO; COLUMNS]; $count];
                let [$($row),+] = rows.map(|row| &row[..len]);
                for k in start..len {
                    let b = columns(b, k * stride);
                    $($part = plus_products::<L, C>($part, $row[k], b);)+
                }
                $($sum = plus($sum, $part);)+
            }
            [$($sum),+]
        }
    };
}

tile!(four_rows, 4: r0 s0 p0, r1 s1 p1, r2 s2 p2, r3 s3 p3);
tile!(one_row, 1: r0 s0 p0);

#[inline(always)]
fn columns<C>(b: &[C], at: usize) -> &[C; COLUMNS] {
    b[at..].first_chunk().expect("a row of a tile is in its matrix")
}

#[inline(always)]
fn plus_products<L: Level, C: Number>(mut sums: [C; COLUMNS], factor: C, b: &[C; COLUMNS]) -> [C; COLUMNS] {
    for column in 0..COLUMNS {
        sums[column] = sums[column].plus_fused::<L>(factor, b[column]);
    }
    sums
}

#[inline(always)]
fn plus<C: Number>(mut sums: [C; COLUMNS], part: [C; COLUMNS]) -> [C; COLUMNS] {
    for column in 0..COLUMNS {
        sums[column] = sums[column].plus(part[column]);
    }
    sums
}
