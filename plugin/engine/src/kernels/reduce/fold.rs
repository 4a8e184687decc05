//! Reductions of one operand by a recognised function.
//!
//! Floats are summed in many short chains that are then joined in pairs, so that the error grows with the logarithm of
//! the number of elements. Narrow floats are rounded once, at the end. The order of the sum depends only on shapes,
//! never on the number of threads.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType};
use smallvec::SmallVec;

use super::layout::Layout;
use super::loops::Loops;
use crate::element::Element;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::combine::by_combine;
use crate::kernels::nest::Walk;
use crate::machine::{Block, Small};
use crate::math;
use crate::math::generated::{self, Record};
use crate::plan::Slot;
use crate::pool::Cost;

/// A reduction.
#[derive(Clone)]
struct Fold<T: Element> {
    function: BinaryOp,
    layout: Layout,
    loops: Loops<T>,
}

/// The number of columns whose sums are kept close at a time.
const COLUMNS: usize = 256;

/// The number of the operand's elements in one piece of work, where several threads compute one result.
const PIECE: usize = 1 << 16;

pub(super) fn make(function: BinaryOp, element: ElementType, layout: &Layout) -> Option<Box<dyn Kernel>> {
    by_combine!(function, element, (T, C) => {
        Box::new(Fold::<T> { function, layout: layout.clone(), loops: Loops::of::<C>() }) as Box<dyn Kernel>
    })
}

/// Joins numbers in pairs, then pairs of pairs, and so on.
struct Pairwise<T: Element> {
    combine: fn(T::Wide, T::Wide) -> T::Wide,
    identity: T::Wide,
    /// Joined numbers: the last of so many as the lowest set bit of `count` says.
    levels: SmallVec<[T::Wide; 24]>,
    count: usize,
}

impl<T: Element> Pairwise<T> {
    fn new(loops: &Loops<T>) -> Pairwise<T> {
        Pairwise { combine: loops.combine, identity: loops.identity, levels: SmallVec::new(), count: 0 }
    }

    fn push(&mut self, mut x: T::Wide) {
        let mut bits = self.count;
        while bits & 1 == 1 {
            x = self.levels.pop().map_or(x, |level| (self.combine)(level, x));
            bits >>= 1;
        }
        self.levels.push(x);
        self.count += 1;
    }

    fn finish(&mut self) -> T::Wide {
        let joined = self.levels.drain(..).rev().reduce(|low, high| (self.combine)(high, low));
        self.count = 0;
        joined.unwrap_or(self.identity)
    }
}

/// The same for several columns side by side.
struct PairwiseColumns<'a, T: Element> {
    loops: &'a Loops<T>,
    levels: Vec<Vec<T::Wide>>,
    /// Levels that are not in use.
    spare: Vec<Vec<T::Wide>>,
    count: usize,
}

impl<'a, T: Element> PairwiseColumns<'a, T> {
    fn new(loops: &'a Loops<T>) -> PairwiseColumns<'a, T> {
        PairwiseColumns { loops, levels: Vec::new(), spare: Vec::new(), count: 0 }
    }

    fn push(&mut self, sums: &mut [T::Wide]) {
        let mut bits = self.count;
        while bits & 1 == 1 {
            if let Some(level) = self.levels.pop() {
                (self.loops.join)(&level, sums);
                self.spare.push(level);
            }
            bits >>= 1;
        }
        let mut level = self.spare.pop().unwrap_or_default();
        level.clear();
        level.extend_from_slice(sums);
        self.levels.push(level);
        self.count += 1;
    }

    /// The joined numbers.
    fn finish(&mut self, sums: &mut [T::Wide]) {
        sums.fill(self.loops.identity);
        for (index, level) in std::mem::take(&mut self.levels).into_iter().rev().enumerate() {
            match index {
                0 => sums.copy_from_slice(&level),
                _ => (self.loops.join)(&level, sums),
            }
            self.spare.push(level);
        }
        self.count = 0;
    }
}

/// The number of rows that are summed one after another.
const ROWS: usize = 16;

/// Elements of a result in rows, or scattered.
fn run_rows<T: Element>(
    fold: &Fold<T>,
    cx: Context<'_>,
    inputs: Inputs<'_>,
    mut outputs: Outputs<'_>,
) -> Result<(), Error> {
    let (operand, init) = (inputs.get::<T>(0), inputs.get::<T>(1)[0].widen());
    let results = outputs.take::<T>(0);
    let (layout, segments, loops) = (&fold.layout, fold.layout.segments(), &fold.loops);
    let finish = |x: T::Wide| T::narrow((loops.combine)(init, x));
    if results.len() < 4 * cx.pool.threads() && segments >= 2 && cx.pool.splits(fold.cost()) {
        let share = Cost { bytes: fold.cost().bytes / results.len() as f64, ..Cost::default() };
        let mut parts = cx.filled(segments, loops.identity)?;
        for (index, result) in results.iter_mut().enumerate() {
            let start = layout.start(index);
            cx.pool.for_chunks(share, &mut parts, 1, |first, parts| {
                let mut parts_left = parts.iter_mut();
                layout.for_segments(start, first..first + parts_left.len(), |offset, len| {
                    if let Some(part) = parts_left.next() {
                        *part = (loops.slice)(&operand[offset..][..len]);
                    }
                });
            });
            let mut sum = Pairwise::new(loops);
            parts.iter().for_each(|&part| sum.push(part));
            *result = finish(sum.finish());
        }
        return Ok(());
    }
    cx.pool.for_chunks(fold.cost(), results, 1, |first, results| some_rows(fold, operand, init, first, results));
    Ok(())
}

/// The results from `first` on, whose elements are in rows, or scattered.
fn some_rows<T: Element>(fold: &Fold<T>, operand: &[T], init: T::Wide, first: usize, results: &mut [T]) {
    let (layout, segments, loops) = (&fold.layout, fold.layout.segments(), &fold.loops);
    let finish = |x: T::Wide| T::narrow((loops.combine)(init, x));
    let mut walk = Walk::new(&layout.kept, [0], first);
    let mut sum = Pairwise::new(loops);
    for result in results {
        let start = walk.step()[0];
        if let ([], row) | ([_], row @ 2..) = (&layout.reduced[..], layout.row())
            && segments == 1
        {
            *result = finish((loops.slice)(&operand[start as usize..][..row]));
            continue;
        }
        layout.for_segments(start, 0..segments, |offset, len| match &operand[offset..][..len] {
            [x] => sum.push(x.widen()),
            slice => sum.push((loops.slice)(slice)),
        });
        *result = finish(sum.finish());
    }
}

/// Neighbouring results with their elements below each other.
fn run_columns<T: Element>(
    fold: &Fold<T>,
    cx: Context<'_>,
    inputs: Inputs<'_>,
    mut outputs: Outputs<'_>,
) -> Result<(), Error> {
    let (operand, init) = (inputs.get::<T>(0), inputs.get::<T>(1)[0].widen());
    let results = outputs.take::<T>(0);
    let (layout, loops) = (&fold.layout, &fold.loops);
    let (columns, rows) = (layout.columns(), layout.elements());
    let finish = |x: T::Wide| T::narrow((loops.combine)(init, x));
    let block = block_rows(columns);
    let blocks = rows.div_ceil(block);
    let matrices = results.len() / columns.max(1);
    if matrices * columns.div_ceil(COLUMNS) < 2 * cx.pool.threads() && blocks > 1 && cx.pool.splits(fold.cost()) {
        let share = Cost { bytes: fold.cost().bytes / matrices as f64, ..Cost::default() };
        let mut parts = cx.filled(blocks * columns, loops.identity)?;
        for (matrix, results) in results.chunks_exact_mut(columns).enumerate() {
            let start = layout.start(matrix * columns);
            parts.fill(loops.identity);
            cx.pool.for_chunks(share, &mut parts, columns, |first, parts| {
                for (index, sums) in parts.chunks_exact_mut(columns).enumerate() {
                    for (i, sums) in sums.chunks_mut(COLUMNS).enumerate() {
                        sum_block(fold, operand, (start, first / columns + index), i * COLUMNS, sums);
                    }
                }
            });
            let mut sum = Pairwise::new(loops);
            for (column, result) in results.iter_mut().enumerate() {
                parts[column..].iter().step_by(columns).for_each(|&part| sum.push(part));
                *result = finish(sum.finish());
            }
        }
        return Ok(());
    }
    let unit = if matrices < 2 * cx.pool.threads() { COLUMNS } else { columns };
    cx.pool.for_chunks(fold.cost(), results, unit, |first, results| some_columns(fold, operand, init, first, results));
    Ok(())
}

/// The results from `first` on, whose elements are below each other.
fn some_columns<T: Element>(fold: &Fold<T>, operand: &[T], init: T::Wide, first: usize, results: &mut [T]) {
    let (layout, loops) = (&fold.layout, &fold.loops);
    let (columns, rows) = (layout.columns(), layout.elements());
    let blocks = rows.div_ceil(block_rows(columns));
    let mut next = first;
    let mut rest = results;
    let (mut joined, mut sums) = (PairwiseColumns::new(loops), [loops.identity; COLUMNS]);
    while !rest.is_empty() {
        let column = next % columns;
        let (piece, after) = rest.split_at_mut((columns - column).min(COLUMNS).min(rest.len()));
        let start = layout.start(next - column);
        let sums = &mut sums[..piece.len()];
        if blocks == 1 {
            sum_block(fold, operand, (start, 0), column, sums);
        } else {
            for index in 0..blocks {
                sum_block(fold, operand, (start, index), column, sums);
                joined.push(sums);
            }
            joined.finish(sums);
        }
        piece.iter_mut().zip(sums).for_each(|(result, sum)| *result = T::narrow((loops.combine)(init, *sum)));
        next += piece.len();
        rest = after;
    }
}

/// The number of rows in a block: blocks are summed, and the sums are then joined.
fn block_rows(columns: usize) -> usize {
    (PIECE / columns).clamp(ROWS, 1024)
}

/// The sums of a block's columns from `column` on, in the matrix at `start`.
fn sum_block<T: Element>(
    fold: &Fold<T>,
    operand: &[T],
    (start, index): (isize, usize),
    column: usize,
    sums: &mut [T::Wide],
) {
    let (layout, loops) = (&fold.layout, &fold.loops);
    let (rows, block) = (layout.elements(), block_rows(layout.columns()));
    let mut places = [0; ROWS];
    let mut walk = Walk::new(&layout.reduced, [start], index * block);
    let mut left = block.min(rows - index * block);
    let mut joined = (left > ROWS).then(|| PairwiseColumns::new(loops));
    while left > 0 {
        let places = &mut places[..left.min(ROWS)];
        places.iter_mut().for_each(|place| *place = walk.step()[0] as usize);
        sums.fill(loops.identity);
        (loops.rows)(operand, places, column, sums);
        if let Some(joined) = &mut joined {
            joined.push(sums);
        }
        left -= places.len();
    }
    if let Some(joined) = &mut joined {
        joined.finish(sums);
    }
}

/// The most elements of a reduction that machine code computes itself, one after another.
const FEW: usize = 8;

/// The most elements of a reduction that machine code calls.
const SMALL: usize = 4096;

impl<T: Element> Small for Fold<T> {
    type Element = T;

    fn run(&self, operands: &[&[T]], results: &mut [T]) {
        let init = operands[1][0].widen();
        if self.is_of_rows() {
            some_rows(self, operands[0], init, 0, results);
        } else {
            some_columns(self, operands[0], init, 0, results);
        }
    }
}

impl<T: Element> Fold<T> {
    /// The function in machine code, if it gives the same bits in any order.
    fn in_any_order(&self) -> Option<Record> {
        let wide = math::wide(T::TYPE);
        let is_bitwise = matches!(self.function, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        // Sums of booleans, and of integers narrower than their bytes, are cut to what the type holds.
        let is_integer = T::TYPE.is_integer() && T::TYPE.bits() == 8 * size_of::<T>();
        ((is_bitwise || is_integer) && generated::fits_lane(wide)).then(|| generated::binary(self.function, wide))?
    }

    /// Whether the elements of a result are in rows, or scattered.
    fn is_of_rows(&self) -> bool {
        self.layout.row() > 1 || self.layout.columns() == 1
    }
}

impl<T: Element> Kernel for Fold<T> {
    fn name(&self) -> String {
        format!("reduce[{}]", self.function.name().trim_start_matches("stablehlo."))
    }

    fn cost(&self) -> Cost {
        let (results, elements) = (self.layout.results() as f64, self.layout.elements() as f64);
        let rows = results * elements / self.layout.row().max(self.layout.columns()) as f64;
        let bytes = results * (elements + 1.0) * size_of::<T>() as f64;
        Cost { flops: results * elements + 20.0 * rows, bytes }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let elements = self.layout.results() * self.layout.elements();
        if self.layout.results() == 1
            && (1..=FEW).contains(&elements)
            && let Some(combine) = self.in_any_order()
        {
            let width = generated::width(T::TYPE);
            let mut result = block.read(inputs[1], 0, 1, width)?;
            for element in 0..elements {
                let next = block.read(inputs[0], element * size_of::<T>(), 1, width)?;
                block.lanes.set_lanes(1);
                result = combine(&block.lanes, [result, next, next]);
            }
            return block.write(outputs[0], 0, 1, width, result);
        }
        (1..=SMALL).contains(&elements).then(|| block.invoke(self.clone(), inputs, outputs[0]))
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        match self.layout.results() {
            0 => Ok(()),
            _ if self.is_of_rows() => run_rows(self, cx, inputs, outputs),
            _ => run_columns(self, cx, inputs, outputs),
        }
    }
}
