//! Products of a few columns by a few columns, whose sums are long, as in covariances and normal equations.
//!
//! Both operands are read once, row by row: each row adds the products of all pairs of its elements to sums that stay
//! in registers. Sums are added up in parts of [`TERMS`] products, parts in pieces, and pieces in their order, whatever
//! number of threads there is.

use oxcall::Error;

use super::Number;
use super::matmul::{Mat, MatMut};
use crate::kernel::Context;
use crate::math::level::{Level, with_level};

/// The most columns of the left operand, and of the right.
const WIDEST: (usize, usize) = (16, 16);

/// The columns of the left operand at a time: eight vectors of sums.
const GROUP: usize = 8;

/// The fewest products of each sum.
const FEWEST: usize = 2048;

/// The products that are added one after another, and those of a piece.
const TERMS: usize = 64;
const PIECE: usize = 64 * TERMS;

/// The sums of all pairs of columns.
type Sums<C> = [[C; WIDEST.1]; WIDEST.0];

/// Whether both operands have few columns, and each sum has many products.
pub(super) fn fits<C: Number>(a: Mat<'_, C>, b: Mat<'_, C>) -> bool {
    C::IN_TILES
        && a.cols >= FEWEST
        && (2..=WIDEST.0).contains(&a.rows)
        && (2..=WIDEST.1).contains(&b.cols)
        && [a.transposed(), b].iter().all(|rows| rows.has_dense_rows() || rows.has_dense_columns())
}

/// `out = a b`, or `out += a b`, for matrices that [fit](fits), on `threads` threads.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory runs out.
pub(super) fn multiply<C: Number>(
    cx: Context<'_>,
    threads: usize,
    a: Mat<'_, C>,
    b: Mat<'_, C>,
    mut out: MatMut<'_, C>,
    accumulate: bool,
) -> Result<(), Error> {
    let pieces = a.cols.div_ceil(PIECE);
    let mut memory = cx.filled(pieces * WIDEST.0 * WIDEST.1, C::ZERO)?;
    let some = |first: usize, sums: &mut [C]| {
        let first = first / (WIDEST.0 * WIDEST.1);
        for (piece, sums) in (first..).zip(sums.as_chunks_mut::<{ WIDEST.1 }>().0.as_chunks_mut::<{ WIDEST.0 }>().0) {
            let (start, terms) = (piece * PIECE, PIECE.min(a.cols - piece * PIECE));
            let (a, b) = (a.part([0, start], [a.rows, terms]), b.part([start, 0], [terms, b.cols]));
            with_level!(L => L::enter(#[inline(always)] || sums_of::<L, C>(a, b, sums)));
        }
    };
    if threads > 1 {
        let share = pieces.div_ceil(4 * threads) * WIDEST.0 * WIDEST.1;
        cx.pool.split_chunks(&mut memory, share, some);
    } else {
        some(0, &mut memory);
    }
    let (rows, columns) = out.sizes();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let pieces = memory.chunks_exact(WIDEST.0 * WIDEST.1).map(|sums| sums[row * WIDEST.1 + column]);
        let sum = pieces.fold(C::ZERO, C::plus);
        let to = out.at(row, column);
        *to = if accumulate { to.plus(sum) } else { sum };
    }
    Ok(())
}

/// Adds the products of a piece to its sums.
#[inline(always)]
fn sums_of<L: Level, C: Number>(a: Mat<'_, C>, b: Mat<'_, C>, sums: &mut Sums<C>) {
    let [mut left_memory, mut right_memory] = [[[C::ZERO; WIDEST.1]; TERMS]; 2];
    let width = a.rows.next_multiple_of(GROUP);
    for start in (0..a.cols).step_by(TERMS) {
        let count = TERMS.min(a.cols - start);
        let left = rows_of(a.transposed().part([start, 0], [count, a.rows]), width, &mut left_memory);
        let right = rows_of(b.part([start, 0], [count, b.cols]), WIDEST.1, &mut right_memory);
        for (group, sums) in sums.as_chunks_mut::<GROUP>().0.iter_mut().enumerate().take(width / GROUP) {
            let left = (&left.0[group * GROUP..], left.1);
            let part = match a.rows - group * GROUP {
                ..=4 => four_rows::<L, C>(left, right, count),
                _ => eight_rows::<L, C>(left, right, count),
            };
            for (sums, part) in sums.iter_mut().zip(&part) {
                sums.iter_mut().zip(part).for_each(|(sum, &part)| *sum = sum.plus(part));
            }
        }
    }
}

/// The elements of rows, from which `width` can be read each, and the distance of rows: those of the operand, or copies
/// where its rows are not dense, or end with it. Products of what follows a row are dropped.
#[inline(always)]
fn rows_of<'a, C: Number>(rows: Mat<'a, C>, width: usize, memory: &'a mut [[C; WIDEST.1]; TERMS]) -> (&'a [C], usize) {
    let (elements, stride, by_column) = rows.lines([0, 0]);
    if !by_column && elements.len() >= (rows.rows - 1) * stride + width {
        return (elements, stride);
    }
    for column in 0..rows.cols {
        for (row, to) in memory.iter_mut().enumerate().take(rows.rows) {
            to[column] = rows.at(row, column);
        }
    }
    (memory.as_flattened(), WIDEST.1)
}

/// A function that sums the products of rows' elements. Sums in separate variables stay in vector registers; as an
/// array of arrays they do not.
macro_rules! part {
    ($name:ident: $($row:literal $sum:ident),+) => {
        #[inline(always)]
        fn $name<L: Level, C: Number>(
            (left, left_stride): (&[C], usize),
            (right, right_stride): (&[C], usize),
            count: usize,
        ) -> [[C; WIDEST.1]; GROUP] {
            $(let mut $sum = [C::ZERO; WIDEST.1];)+
            for term in 0..count {
                let left: &[C; GROUP] = left[term * left_stride..].first_chunk().expect("it was counted");
                let right: &[C; WIDEST.1] = right[term * right_stride..].first_chunk().expect("it was counted");
                $($sum = plus_products::<L, C>($sum, left[$row], right);)+
            }
            let mut sums = [[C::ZERO; WIDEST.1]; GROUP];
            $(sums[$row] = $sum;)+
            sums
        }
    };
}

part!(four_rows: 0 s0, 1 s1, 2 s2, 3 s3);
part!(eight_rows: 0 s0, 1 s1, 2 s2, 3 s3, 4 s4, 5 s5, 6 s6, 7 s7);

/// The same function is in [`tiles`](super::tiles). Sharing it, and the sum of tiles, took 1.35 of the time here.
#[inline(always)]
fn plus_products<L: Level, C: Number>(mut sums: [C; WIDEST.1], factor: C, row: &[C; WIDEST.1]) -> [C; WIDEST.1] {
    for column in 0..WIDEST.1 {
        sums[column] = sums[column].plus_fused::<L>(factor, row[column]);
    }
    sums
}
