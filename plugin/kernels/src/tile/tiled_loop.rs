//! Loops whose iterations all run on one piece of the arrays before the next.
//!
//! In a loop whose body computes each element from the same elements of the iteration before, and whose condition does
//! not depend on what other elements become, loops over iterations and over elements can be interchanged: a piece of
//! the arrays stays in a cache for all iterations, and threads meet once.

use std::ops::Range;
use std::sync::OnceLock;

use oxcall::Error;
use oxcall_hlo::ElementType;
use oxcall_jit::Listing;

use super::frame::{Frame, Memory, Scalars};
use super::program::Program;
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::{Cost, Outcome};
use crate::scalar;
use crate::sync::Mutex;

/// The number of a scalar of an iteration.
pub type ScalarId = usize;

/// Where a program finds an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// An operand of the loop, which no iteration changes.
    Operand(usize),
    /// A scalar of the iteration.
    Scalar(ScalarId),
    /// An array that the loop carries, as the iteration before left it.
    Carried(usize),
    /// A result of an earlier program of the same iteration. Those of all programs are numbered in order, the
    /// condition's first.
    Computed(usize),
    /// A row of an operand, whose rows have as many elements as the carried arrays.
    Row {
        /// The operand.
        array: usize,
        /// The row.
        index: RowIndex,
    },
}

/// The choice of a row of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowIndex {
    /// Its index, which is moved into bounds.
    pub index: ScalarId,
    /// The type of the index, an integer.
    pub element: ElementType,
    /// The number of rows of the array.
    pub rows: usize,
}

/// A program of each iteration, with the sources of its operands.
pub struct Work {
    /// The program.
    pub program: Program,
    /// The sources.
    pub sources: Vec<Source>,
}

/// A function of scalars.
pub struct ScalarWork {
    /// The function.
    pub program: scalar::Program,
    /// Its arguments.
    pub args: Vec<ScalarId>,
}

/// What decides whether there is another iteration.
pub enum Condition {
    /// A boolean that this computes.
    Scalar(ScalarWork),
    /// Whether any element is true of an array of booleans that these programs compute last. Where an element is false,
    /// no iteration changes the carried elements.
    Any(Vec<Work>),
}

/// A scalar that an iteration takes from an operand.
pub struct TakenScalar {
    /// The operand.
    pub array: usize,
    /// Which element it is; a row has one.
    pub index: RowIndex,
}

/// A scalar that the loop carries.
pub struct CarriedScalar {
    /// The operand that it is at first. It is the scalar with the same number as this.
    pub init: usize,
    /// What it becomes.
    pub next: ScalarId,
    /// The result that it is at last.
    pub result: usize,
}

/// An array that the loop carries.
pub struct CarriedArray {
    /// The operand that it is at first.
    pub init: usize,
    /// What it becomes.
    pub next: Source,
    /// The result that it is at last.
    pub result: usize,
    /// The size of an element, in bytes.
    pub width: usize,
}

/// An array that the loop carries, and of which each iteration only writes a row.
pub struct WrittenRows {
    /// The operand that it is at first.
    pub init: usize,
    /// The row.
    pub row: Source,
    /// Which row it is.
    pub index: RowIndex,
    /// The result that it is at last.
    pub result: usize,
    /// The size of an element, in bytes.
    pub width: usize,
}

/// The parts of a loop.
pub struct LoopParts {
    /// The number of elements of each array.
    pub count: usize,
    /// The scalars that change.
    pub scalars: Vec<CarriedScalar>,
    /// Operands that are scalars; their numbers follow those of the carried scalars.
    pub invariant: Vec<usize>,
    /// What decides whether there is another iteration.
    pub condition: Condition,
    /// The scalars of an iteration that this computes, whose numbers come next.
    pub scalar_work: ScalarWork,
    /// The scalars that it takes from operands, then.
    pub taken: Vec<TakenScalar>,
    /// The scalars that this computes of all of them, whose numbers come last.
    pub late_work: ScalarWork,
    /// The arrays that change.
    pub arrays: Vec<CarriedArray>,
    /// The arrays that get rows.
    pub written: Vec<WrittenRows>,
    /// The programs of an iteration, in order.
    pub work: Vec<Work>,
    /// The estimated number of iterations.
    pub iterations: f64,
}

impl Condition {
    /// The programs of the condition.
    fn work(&self) -> &[Work] {
        match self {
            Condition::Scalar(_) => &[],
            Condition::Any(work) => work,
        }
    }
}

impl LoopParts {
    /// All programs of an iteration, in order.
    fn all_work(&self) -> impl Iterator<Item = &Work> {
        self.condition.work().iter().chain(&self.work)
    }

    /// Every place from which something is read, beside the first contents of what the loop carries.
    fn sources(&self) -> impl Iterator<Item = Source> {
        let work = self.all_work().flat_map(|work| work.sources.iter().copied());
        let nexts = self.arrays.iter().map(|array| array.next);
        work.chain(nexts).chain(self.written.iter().map(|written| written.row))
    }

    /// The arrays in each operand at first and in each result at last.
    fn carried(&self) -> impl Iterator<Item = (usize, usize)> {
        let arrays = self.arrays.iter().map(|array| (array.init, array.result));
        arrays.chain(self.written.iter().map(|written| (written.init, written.result)))
    }
}

/// A loop over pieces of arrays.
pub struct TiledLoop {
    pub(super) parts: LoopParts,
    /// The place of each result of a program.
    pub(super) homes: Vec<Home>,
    /// The carried arrays that are copied to, at the end of an iteration.
    pub(super) copied: Vec<usize>,
    /// The sizes of elements of the separate pieces, in bytes.
    pub(super) own: Vec<usize>,
    name: String,
    /// The number of elements of a piece.
    piece: usize,
    cost: Cost,
}

/// The place of a result of a program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Home {
    /// It is what a carried array becomes.
    Next(usize),
    /// A separate piece.
    Own(usize),
}

/// The memory that the pieces of one thread may take, in bytes: a part of an L2 cache.
const PIECE_BYTES: usize = 128 << 10;

/// The number of elements of which pieces have a multiple: lines of a cache, for any width.
const UNIT: usize = 64;

/// The fewest elements for which it is worth it to compute the scalars of all iterations again, and the most of a
/// piece.
const FEWEST: usize = if cfg!(test) { UNIT } else { 512 };
const MOST: usize = 8192;

impl TiledLoop {
    /// The loop with these parts. Programs read carried arrays, results and rows
    /// [in place](Program::reads_in_place).
    pub fn new(parts: LoopParts) -> TiledLoop {
        let (mut homes, mut own) = (Vec::new(), Vec::new());
        for width in parts.all_work().flat_map(|work| work.program.result_widths()) {
            let computed = Source::Computed(homes.len());
            homes.push(match parts.arrays.iter().position(|array| array.next == computed) {
                Some(array) => Home::Next(array),
                None => {
                    own.push(width);
                    Home::Own(own.len() - 1)
                }
            });
        }
        let is_there = |array: usize| homes.iter().any(|home| matches!(home, Home::Next(next) if *next == array));
        let copied = (0..parts.arrays.len()).filter(|&array| !is_there(array)).collect();
        let carried: usize = parts.arrays.iter().map(|array| 2 * array.width).sum();
        let operands = parts.all_work().flat_map(|work| work.sources.iter().zip(work.program.operand_widths()));
        let is_read = |source: &Source| matches!(source, Source::Operand(_) | Source::Row { .. });
        let read: usize = operands.filter(|(source, _)| is_read(source)).map(|(_, width)| width).sum();
        let bytes = carried + read + own.iter().sum::<usize>();
        let piece = (PIECE_BYTES / bytes.max(1)).clamp(FEWEST, MOST) / UNIT * UNIT;
        let costs = || parts.all_work().map(|work| work.program.cost());
        let flops = costs().map(|cost| cost.flops).sum::<f64>() * parts.iterations;
        let bytes = costs().map(|cost| cost.bytes).sum();
        let names: Vec<String> = parts.all_work().map(|work| work.program.name()).collect();
        let name = format!("tiled while[{}]", names.join(","));
        TiledLoop { parts, homes, copied, own, name, piece, cost: Cost { flops, bytes } }
    }

    /// Runs the loop on a range of elements; returns the carried scalars after it.
    ///
    /// # Safety
    /// No other thread has these elements of the results.
    unsafe fn run_range(
        &self,
        cx: Context<'_>,
        inputs: Inputs<'_>,
        outputs: &Outputs<'_>,
        range: Range<usize>,
    ) -> Result<Vec<Scalar>, Error> {
        let pieces = range.len().div_ceil(self.piece).max(1);
        let len = range.len().div_ceil(pieces).next_multiple_of(UNIT);
        let mut memory = Memory::new(self, cx, len)?;
        let mut last = Vec::new();
        for start in range.clone().step_by(len) {
            let scalars = Scalars::new(&self.parts, inputs);
            let piece = start..(start + len).min(range.end);
            // SAFETY: as the caller guarantees.
            unsafe { Frame::new(self, inputs, outputs, &scalars, &mut memory, piece).run(cx.era) };
            last = scalars.carried(&self.parts);
        }
        Ok(last)
    }
}

impl Kernel for TiledLoop {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        let is_read = |operand: usize| {
            let is_source = |source: Source| match source {
                Source::Operand(read) | Source::Row { array: read, .. } => read == operand,
                Source::Scalar(_) | Source::Carried(_) | Source::Computed(_) => false,
            };
            self.parts.sources().any(is_source) || self.parts.carried().filter(|&(init, _)| init == operand).count() > 1
        };
        self.parts.carried().filter(|&(init, _)| !is_read(init)).collect()
    }

    fn code(&self) -> Vec<Listing<'_>> {
        self.parts.all_work().flat_map(|work| work.program.code()).collect()
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let failure = Mutex::new(None);
        let last = OnceLock::new();
        let unit = if self.parts.count < 16 * FEWEST { FEWEST } else { 2 * FEWEST };
        cx.pool.for_ranges(self.cost, self.parts.count, unit, |range| {
            let is_first = range.start == 0;
            // SAFETY: each thread has its own ranges.
            match unsafe { self.run_range(cx, inputs, &outputs, range) } {
                Ok(scalars) if is_first => drop(last.set(scalars)),
                outcome => outcome.map(drop).note(&failure),
            }
        });
        <Result<(), Error>>::of(failure)?;
        for (carried, value) in self.parts.scalars.iter().zip(last.get().into_iter().flatten()) {
            let result = outputs.take::<u8>(carried.result);
            result.copy_from_slice(&value.0.to_le_bytes()[..result.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, OpKind, TensorType, ValueId};

    use super::*;
    use crate::kernels::testing::{Single, bytes, elements, run_kernel};
    use crate::tile::{Access, Builder};

    /// The function of two scalars `i` and `n` that one op of them computes.
    fn scalar_op(kind: OpKind, element: ElementType) -> ScalarWork {
        let ty = TensorType::scalar(ElementType::S32);
        let single = Single::new(kind, &[ty.clone(), ty], &[TensorType::scalar(element)]);
        let params: &[ValueId] = &single.op.operands;
        let program = scalar::Program::of_op(&single.func, params, &single.op).unwrap();
        ScalarWork { program, args: vec![0, 1] }
    }

    /// `(i, a, b, rows)` becomes `(i + n, b, a + b, rows with a + b at i)` while `i < n`.
    #[test]
    fn pieces_run_on_threads_and_without_memory() {
        let large = if cfg!(miri) { 150 } else { 1000 };
        for (count, is_split) in [(large, true), (large, false), (1, false)] {
            let (rows, f32s) = (3, ElementType::F32);
            let mut builder = Builder::new(count, [(f32s, count), (f32s, count)]);
            let [a, b] = [0, 1].map(|input| builder.input(input, Access::new(&[count], &[1])));
            let sum = builder.op(&OpKind::Binary(BinaryOp::Add), &[(a, f32s), (b, f32s)], f32s).unwrap();
            builder.output(sum, f32s);
            let program = builder.build("sum".to_owned());
            let index = RowIndex { index: 0, element: ElementType::S32, rows };
            let less = OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed);
            let parts = LoopParts {
                count,
                scalars: vec![CarriedScalar { init: 0, next: 2, result: 0 }],
                invariant: vec![4],
                condition: Condition::Scalar(scalar_op(less, ElementType::Pred)),
                scalar_work: scalar_op(OpKind::Binary(BinaryOp::Add), ElementType::S32),
                taken: Vec::new(),
                late_work: scalar_op(OpKind::Binary(BinaryOp::Multiply), ElementType::S32),
                arrays: vec![
                    CarriedArray { init: 1, next: Source::Carried(1), result: 1, width: 4 },
                    CarriedArray { init: 2, next: Source::Computed(0), result: 2, width: 4 },
                ],
                written: vec![WrittenRows { init: 3, row: Source::Computed(0), index, result: 3, width: 4 }],
                work: vec![Work { program, sources: vec![Source::Carried(0), Source::Carried(1)] }],
                iterations: if is_split { 1e6 } else { 1.0 },
            };
            let kernel = TiledLoop::new(parts);
            assert_eq!(kernel.in_place(), [(1, 1), (2, 2), (3, 3)]);
            let floats = |first: usize, count: usize| (first..first + count).map(|x| x as f32).collect::<Vec<f32>>();
            let (a, b, old) = (floats(1, count), floats(7, count), floats(20, rows * count));
            for (start, step) in [(-2, 2), (5, 2), (-1, 1)] {
                let operands = [bytes(&[start]), bytes(&a), bytes(&b), bytes(&old), bytes(&[step])];
                let (mut i, mut x, mut y, mut z): (i32, _, _, _) = (start, a.clone(), b.clone(), old.clone());
                while i < step {
                    let sum: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
                    z[i.clamp(0, 2) as usize * count..][..count].copy_from_slice(&sum);
                    (i, x, y) = (i + step, y, sum);
                }
                let sizes = [4, 4 * count, 4 * count, 4 * rows * count];
                for in_place in [&[][..], &kernel.in_place(), &[(2, 2)]] {
                    let results = run_kernel(&kernel, &operands, &sizes, in_place, 2);
                    assert_eq!(elements::<i32>(&results[0]), [i]);
                    assert_eq!(elements::<f32>(&results[1]), x);
                    assert_eq!(elements::<f32>(&results[2]), y);
                    assert_eq!(elements::<f32>(&results[3]), z);
                }
            }
        }
    }
}
