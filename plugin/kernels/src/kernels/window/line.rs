//! Running totals along the last dimension: vectors of totals, and parts of a long row on several threads.

use oxcall::Error;
use oxcall_hlo::ElementType;

use super::scan::{Scan, Totals};
use crate::element::Element;
use crate::kernel::{Context, Kernel};
use crate::kernels::combine::{Combine, Precise};
use crate::math::level::vectorised;

/// The type of a total.
type Sum<T> = <<T as Element>::Wide as Precise>::Sum;

/// The elements of a vector, and those of a block, whose totals follow each other.
const LANES: usize = 8;
const BLOCK: usize = 16 * LANES;

/// The fewest elements of a row that is worth its blocks; machine code has those of shorter ones.
pub(super) const SHORTEST: usize = BLOCK;

/// The elements of a part of a row.
const PART: usize = 128 * BLOCK;

/// Whether totals of these elements are computed here: not those of rare types, for the size of the library.
pub(super) fn is_common<T: Element>() -> bool {
    matches!(T::TYPE, ElementType::F32 | ElementType::F64 | ElementType::S32)
}

pub(super) fn run<T, C>(
    scan: &Scan,
    cx: Context<'_>,
    operand: &[T],
    init: Sum<T>,
    result: &mut [T],
) -> Result<(), Error>
where
    T: Element,
    T::Wide: Precise,
    C: Combine<Sum<T>>,
{
    let (len, reverse, cost) = (scan.shape.len, scan.shape.reverse, scan.cost());
    if scan.shape.outer < cx.pool.threads() && len >= 2 * PART && cx.pool.splits(cost) {
        return run_parts::<T, C>(scan, cx, operand, init, result);
    }
    cx.pool.for_chunks(cost, result, len, |first, chunk| {
        let mut memory = cx.scratch(Totals::<Sum<T>>::scratch(len, 1))?;
        let mut totals = Totals::new::<C>(init, (&mut memory, 1));
        for (result, operand) in chunk.chunks_exact_mut(len).zip(operand[first..].chunks_exact(len)) {
            totals.reset();
            line::<T, C>(operand, result, reverse, &mut totals);
        }
        Ok(())
    })
}

/// The totals of rows that several threads divide: first that of each part, then those of its elements.
fn run_parts<T, C>(scan: &Scan, cx: Context<'_>, operand: &[T], init: Sum<T>, result: &mut [T]) -> Result<(), Error>
where
    T: Element,
    T::Wide: Precise,
    C: Combine<Sum<T>>,
{
    let (len, reverse, cost) = (scan.shape.len, scan.shape.reverse, scan.cost());
    let parts = len.div_ceil(PART);
    // The last part of a row is shorter, where its totals begin if they run from its end.
    let place = |part: usize| {
        let (row, part) = (part / parts, part % parts);
        row * len + part * PART..row * len + len.min((part + 1) * PART)
    };
    let mut before = cx.scratch::<Sum<T>>(scan.shape.outer * parts)?;
    cx.pool.for_chunks(cost, &mut before, 1, |first, chunk| {
        let mut memory = cx.scratch(Totals::<Sum<T>>::scratch(PART, LANES))?;
        let mut totals = Totals::new::<C>(C::IDENTITY, (&mut memory, LANES));
        for (total, part) in chunk.iter_mut().zip(first..) {
            totals.reset();
            *total = total_of::<T, C>(&operand[place(part)], &mut totals);
        }
        Ok::<_, Error>(())
    })?;
    let mut memory = cx.scratch(Totals::<Sum<T>>::scratch(len, 1))?;
    let mut totals = Totals::new::<C>(init, (&mut memory, 1));
    for row in before.chunks_exact_mut(parts) {
        totals.reset();
        for part in 0..parts {
            let total = &mut row[if reverse { parts - 1 - part } else { part }];
            totals.block[0] = std::mem::replace(total, totals.before[0]);
            totals.close();
        }
    }
    let tasks = result.chunks_exact_mut(len).flat_map(|row| row.chunks_mut(PART)).enumerate().collect();
    cx.pool.for_each(cost, tasks, |(part, result): (usize, &mut [T])| {
        let mut memory = cx.scratch(Totals::<Sum<T>>::scratch(PART, 1))?;
        let mut totals = Totals::new::<C>(before[part], (&mut memory, 1));
        totals.reset();
        line::<T, C>(&operand[place(part)], result, reverse, &mut totals);
        Ok(())
    })
}

/// The totals of a row, or of a part of one.
fn line<T, C>(operand: &[T], result: &mut [T], reverse: bool, totals: &mut Totals<'_, Sum<T>>)
where
    T: Element,
    T::Wide: Precise,
    C: Combine<Sum<T>>,
{
    let len = operand.len();
    let whole = len - len % BLOCK;
    let (own, rest) = if reverse { (len - whole..len, 0..len - whole) } else { (0..whole, whole..len) };
    blocks::<T, C>(&operand[own.clone()], &mut result[own], reverse, totals);
    let (before, mut sum) = (totals.before[0], C::IDENTITY);
    let mut next = |place: usize| {
        sum = C::combine(sum, operand[place].widen().to_sum());
        result[place] = T::narrow(T::Wide::from_sum(C::combine(before, sum)));
    };
    if reverse { rest.rev().for_each(next) } else { rest.for_each(&mut next) }
}

vectorised! {
/// The totals of whole blocks.
fn blocks<T, C>(operand: &[T], result: &mut [T], reverse: bool, totals: &mut Totals<'_, Sum<T>>)
where
    T: Element,
    T::Wide: Precise,
    C: Combine<Sum<T>>,
{
    let (operand, _) = operand.as_chunks::<LANES>();
    let (result, _) = result.as_chunks_mut::<LANES>();
    let count = operand.len();
    for block in 0..count / (BLOCK / LANES) {
        let (before, mut sum) = (totals.before[0], C::IDENTITY);
        for vector in 0..BLOCK / LANES {
            let vector = block * (BLOCK / LANES) + vector;
            let vector = if reverse { count - 1 - vector } else { vector };
            let mut x = operand[vector].map(|x| x.widen().to_sum());
            if reverse {
                x.reverse();
            }
            let (base, x) = (C::combine(before, sum), running::<_, C>(x));
            let mut found = x.map(|x| T::narrow(T::Wide::from_sum(C::combine(base, x))));
            if reverse {
                found.reverse();
            }
            result[vector] = found;
            sum = C::combine(sum, x[LANES - 1]);
        }
        totals.block[0] = sum;
        totals.close();
    }
}
}

/// The totals of a vector, in three steps.
#[inline(always)]
fn running<W: Copy, C: Combine<W>>(x: [W; LANES]) -> [W; LANES] {
    joined::<4, _, C>(joined::<2, _, C>(joined::<1, _, C>(x)))
}

/// Each lane with the one that is `BY` before it.
#[inline(always)]
fn joined<const BY: usize, W: Copy, C: Combine<W>>(x: [W; LANES]) -> [W; LANES] {
    std::array::from_fn(|lane| C::combine(if lane >= BY { x[lane - BY] } else { C::IDENTITY }, x[lane]))
}

vectorised! {
/// The total of a part, by the totals of its lanes.
fn total_of<T, C>(operand: &[T], totals: &mut Totals<'_, Sum<T>>) -> Sum<T>
where
    T: Element,
    T::Wide: Precise,
    C: Combine<Sum<T>>,
{
    let blocks = operand.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    for block in blocks {
        let (vectors, _) = block.as_chunks::<LANES>();
        let lanes = vectors.iter().fold([C::IDENTITY; LANES], |sums, x| {
            std::array::from_fn(|lane| C::combine(sums[lane], x[lane].widen().to_sum()))
        });
        totals.block.copy_from_slice(&lanes);
        totals.close();
    }
    let sum = rest.iter().fold(C::IDENTITY, |sum, &x| C::combine(sum, x.widen().to_sum()));
    totals.before.iter().fold(sum, |sum, &lane| C::combine(sum, lane))
}
}
