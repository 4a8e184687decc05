//! Products of matrices with a few columns by matrices of a few elements, as in transforms of points in space.
//!
//! Vectors hold an element of each of several rows. Each sum is added up product by product.

use super::Number;
use super::matmul::{Mat, MatMut};
use crate::math::level::{Level, with_level};

/// The fewest rows.
const FEWEST: usize = 64;

/// The most columns of the left operand, and of the result.
pub(super) const WIDEST: (usize, usize) = (8, 4);

/// Whether rows of the left operand, and of the result, are a few elements that follow each other.
pub(super) fn fits<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, out: &mut MatMut<'_, C>) -> bool {
    let ((rows, columns), sums) = (out.sizes(), a.cols);
    let is_thin = (2..=WIDEST.0).contains(&sums) && (1..=WIDEST.1).contains(&columns) && b.rows == sums;
    let is_dense = |(_, distance, by_column): (&[C], usize, bool), row: usize| !by_column && distance == row;
    C::IN_TILES
        && is_thin
        && rows >= FEWEST
        && a.has_dense_rows()
        && is_dense(a.lines([0, 0]), sums)
        && out.has_dense_rows()
        && out.rows_apart().0 == columns
}

/// `out = a b`, or `out += a b`, for matrices that [fit](fits).
pub(super) fn multiply<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, mut out: MatMut<'_, C>, accumulate: bool) {
    let ((rows, columns), (elements, ..)) = (out.sizes(), a.lines([0, 0]));
    let (_, out) = out.rows_apart();
    let (elements, out) = (&elements[..rows * a.cols], &mut out[..rows * columns]);
    macro_rules! by_columns {
        ($($n:literal)*) => {
            match columns {
                $($n => by_sums::<C, $n>(elements, b, out, accumulate),)*
                _ => unreachable!("the result has few columns"),
            }
        };
    }
    by_columns!(1 2 3 4);
}

fn by_sums<C: Number, const N: usize>(elements: &[C], b: Mat<'_, C>, out: &mut [C], accumulate: bool) {
    macro_rules! by_sums {
        ($($k:literal)*) => {
            match b.rows {
                $($k => with_level!(L => rows::<L, C, $k, N>(elements, b, out, accumulate)),)*
                _ => unreachable!("sums have few products"),
            }
        };
    }
    by_sums!(2 3 4 5 6 7 8);
}

fn rows<L: Level, C: Number, const K: usize, const N: usize>(
    elements: &[C],
    b: Mat<'_, C>,
    out: &mut [C],
    accumulate: bool,
) {
    let mut factors = [[C::ZERO; N]; K];
    for (k, row) in factors.iter_mut().enumerate() {
        row.iter_mut().enumerate().for_each(|(n, factor)| *factor = b.at(k, n));
    }
    L::enter(
        #[inline(always)]
        || {
            let (rows, out) = (elements.as_chunks::<K>().0, out.as_chunks_mut::<N>().0);
            for (row, out) in rows.iter().zip(out) {
                for n in 0..N {
                    let mut sum = row[0].times(factors[0][n]);
                    for k in 1..K {
                        sum = sum.plus_fused::<L>(row[k], factors[k][n]);
                    }
                    out[n] = if accumulate { out[n].plus(sum) } else { sum };
                }
            }
        },
    );
}
