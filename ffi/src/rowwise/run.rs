//! The loop over the rows of arrays, on the threads of the host.

use std::ops::RangeInclusive;

use half::{bf16, f16};
use oxcall_math::real::Float;

use super::ahead::{Ahead, CACHED};
use super::elements;
use super::ops::{Kernel, Op};
use super::plan::{Number, Part, Plan, Register, Source, Stage, Target};
use super::program::Kind;
use super::reduce::{Reducer, fill};
use crate::context::ThreadPool;
use crate::expression;
use crate::pointwise::Stored;
use crate::pointwise::block::{Aligned, BLOCK, Block, STEP};
use crate::pointwise::pages::prefer_huge;

/// The elements of a piece of rows, of which two are worth a second thread: as those of pointwise functions.
const PIECE: usize = 32 * BLOCK;

/// The bytes of a row that is fetched before it is computed: shorter ones are read at a steady pace, and longer ones
/// would not stay in the cache until then.
const AHEAD: RangeInclusive<usize> = 1 << 10..=16 << 10;

/// An element of the arrays of functions of rows, and of functions of single elements.
pub trait Element: Stored {
    /// [`elements::run`], which is compiled once with this crate.
    #[doc(hidden)]
    fn elements(
        plan: &elements::Plan,
        inputs: &[elements::Operand<'_, Self>],
        outputs: Vec<&mut [Self]>,
        pool: ThreadPool<'_>,
    );

    /// [`run`], which is compiled once with this crate.
    #[doc(hidden)]
    fn rows(plan: &Plan, inputs: &[&[Self]], outputs: Vec<&mut [Self]>, shape: &[usize], pool: ThreadPool<'_>);
}

/// The code of an operation for blocks.
pub(super) trait Kernels: Stored {
    fn kernel(op: Op) -> Kernel<Self::Computed>;
}

macro_rules! elements {
    ($($float:ident $kernel:ident,)*) => {$(
        impl Kernels for $float {
            fn kernel(op: Op) -> Kernel<Self::Computed> {
                op.$kernel()
            }
        }

        impl Element for $float {
            fn elements(
                plan: &elements::Plan,
                inputs: &[elements::Operand<'_, Self>],
                outputs: Vec<&mut [Self]>,
                pool: ThreadPool<'_>,
            ) {
                elements::all(plan, inputs, outputs, pool);
            }

            fn rows(plan: &Plan, inputs: &[&[Self]], outputs: Vec<&mut [Self]>, shape: &[usize], pool: ThreadPool<'_>) {
                all(plan, inputs, outputs, shape, pool);
            }
        }
    )*};
}
elements!(f16 single, bf16 single, f32 single, f64 double,);

/// Computes a function of the rows of arrays. `shape` is that of an operand of rows; the arrays of numbers of rows have
/// it without its last dimension.
///
/// # Panics
/// If an array has another size, or there is another number of arrays than the plan has.
pub fn run<T: Element, const I: usize, const O: usize>(
    plan: &Plan,
    inputs: [&[T]; I],
    outputs: [&mut [T]; O],
    shape: &[usize],
    pool: ThreadPool<'_>,
) {
    T::rows(plan, &inputs, Vec::from(outputs), shape, pool);
}

fn all<T: Kernels>(plan: &Plan, inputs: &[&[T]], mut outputs: Vec<&mut [T]>, shape: &[usize], pool: ThreadPool<'_>) {
    let [batch @ .., len] = shape else { panic!("rows have a dimension") };
    let (rows, len) = (batch.iter().product::<usize>(), *len);
    let size = |kind: &Kind| if *kind == Kind::Row { len } else { 1 };
    let kinds = (plan.inputs.len(), plan.results.len());
    assert_eq!(kinds, (inputs.len(), outputs.len()), "arrays of a row-wise function");
    let is_whole = |of: usize, kind: &Kind| assert_eq!(of, rows * size(kind), "elements of an array of rows");
    inputs.iter().zip(&plan.inputs).for_each(|(input, kind)| is_whole(input.len(), kind));
    outputs.iter().zip(&plan.results).for_each(|(output, kind)| is_whole(output.len(), kind));
    if rows == 0 {
        // Nothing to compute: a host may want to know what would be computed.
        return expression::offer(pool.context(), || plan.expression());
    }
    prefer_huge(&outputs);
    let each = (PIECE / len.max(STEP)).max(1);
    let arrays = plan.inputs.iter().chain(&plan.results).filter(|kind| **kind == Kind::Row).count();
    let bytes = size_of::<T>() * len;
    let is_ahead = AHEAD.contains(&bytes) && bytes * rows * arrays > CACHED;
    if rows <= each || pool.num_threads() < 2 {
        return piece(plan, inputs, &mut outputs, len, rows, is_ahead);
    }
    let mut pieces: Vec<Vec<&mut [T]>> = Vec::with_capacity(rows.div_ceil(each));
    for start in (0..rows).step_by(each) {
        let count = each.min(rows - start);
        let parts = outputs.iter_mut().zip(&plan.results).map(|(rest, kind)| {
            let (first, others) = std::mem::take(rest).split_at_mut(count * size(kind));
            *rest = others;
            first
        });
        pieces.push(parts.collect());
    }
    pool.for_each_chunk(&mut pieces, 1, 1, |index, pieces| {
        for outputs in pieces {
            let start = index * each;
            let count = each.min(rows - start);
            let parts = inputs.iter().zip(&plan.inputs).map(|(input, kind)| {
                let size = size(kind);
                &input[start * size..][..count * size]
            });
            piece(plan, &parts.collect::<Vec<_>>(), outputs, len, count, is_ahead);
        }
    });
}

/// Computes rows on this thread, where the next row is fetched while one is computed.
fn piece<T: Kernels>(plan: &Plan, inputs: &[&[T]], outputs: &mut [&mut [T]], len: usize, rows: usize, is_ahead: bool) {
    let mut machine = Machine::new(plan, inputs, len);
    for row in 0..rows {
        if is_ahead {
            machine.look_ahead(outputs, row + 1, rows);
        }
        machine.row(row, outputs);
    }
}

/// The memory in which rows are computed.
struct Machine<'a, T: Kernels> {
    plan: &'a Plan,
    inputs: &'a [&'a [T]],
    len: usize,
    /// The blocks of operands that are converted, or end within the block.
    copies: Vec<Aligned<T::Computed>>,
    /// The registers, of one block or those of a row.
    registers: Vec<Vec<Aligned<T::Computed>>>,
    /// One block, for results that are converted, or end within the block.
    spare: Vec<Aligned<T::Computed>>,
    /// The code of the steps of each stage.
    kernels: Vec<Vec<Kernel<T::Computed>>>,
    /// The numbers of the row, by value.
    numbers: Vec<f64>,
    /// Those of each stage.
    reducers: Vec<Vec<Reducer<T::Computed>>>,
    fill: fn(&mut [T::Computed], T::Computed),
    /// The row after this one, and the operations on blocks that a row takes.
    ahead: Ahead,
    operations: usize,
}

impl<'a, T: Kernels> Machine<'a, T> {
    fn new(plan: &'a Plan, inputs: &'a [&'a [T]], len: usize) -> Self {
        let zeros = Aligned::full(T::Computed::default());
        let register = |is_whole: &bool| vec![zeros; if *is_whole { len.div_ceil(BLOCK) } else { 1 }];
        Machine {
            plan,
            inputs,
            len,
            copies: vec![zeros; inputs.len()],
            registers: plan.registers.iter().map(register).collect(),
            spare: vec![zeros],
            kernels: plan
                .stages
                .iter()
                .map(|stage| stage.steps.iter().map(|(op, ..)| T::kernel(*op)).collect())
                .collect(),
            numbers: vec![0.0; plan.values],
            reducers: plan
                .stages
                .iter()
                .map(|stage| stage.reductions.iter().map(|(reduce, ..)| Reducer::new(*reduce)).collect())
                .collect(),
            fill: fill(),
            ahead: Ahead::new(inputs.len() + plan.results.len()),
            operations: len.div_ceil(BLOCK) * plan.stages.iter().map(Stage::operations).sum::<usize>(),
        }
    }

    /// Tells which row follows, if there is one.
    fn look_ahead(&mut self, outputs: &[&mut [T]], row: usize, rows: usize) {
        if row == rows {
            return;
        }
        let row = row * self.len..(row + 1) * self.len;
        let bytes = size_of::<T>() * self.len;
        let is_row = |kind: &Kind| *kind == Kind::Row;
        let reads = self.inputs.iter().zip(&self.plan.inputs).filter(|(_, kind)| is_row(kind));
        let writes = outputs.iter().zip(&self.plan.results).filter(|(_, kind)| is_row(kind));
        let reads = reads.map(|(input, _)| input[row.clone()].as_ptr());
        let starts = reads.chain(writes.map(|(output, _)| output[row.clone()].as_ptr()));
        self.ahead.set(starts.map(<*const T>::cast), bytes, self.operations);
    }

    /// Computes a row.
    fn row(&mut self, row: usize, outputs: &mut [&mut [T]]) {
        let plan = self.plan;
        for (index, stage) in plan.stages.iter().enumerate() {
            self.numbers(stage, row);
            if !stage.has_pass() {
                continue;
            }
            for (number, part, register) in &stage.spreads {
                let number = self.numbers[*number];
                let rounded = T::Computed::of_f64(number);
                let value = match part {
                    Part::Rounded => rounded,
                    Part::Rest if rounded.as_f64().is_finite() => T::Computed::of_f64(number - rounded.as_f64()),
                    Part::Rest => T::Computed::default(),
                };
                let filled = self.len.next_multiple_of(STEP).min(BLOCK);
                (self.fill)(&mut self.registers[register.index][0].0[..filled], value);
            }
            self.reducers[index].iter_mut().for_each(Reducer::start);
            for block in 0..self.len.div_ceil(BLOCK) {
                self.block(index, row, block, outputs);
            }
            for (reducer, (.., number)) in self.reducers[index].iter().zip(&stage.reductions) {
                self.numbers[*number] = reducer.finish();
            }
        }
        for (index, number) in &plan.numbers {
            let number = T::from_f64(self.numbers[*number]);
            match plan.results[*index] {
                Kind::Row => outputs[*index][row * self.len..][..self.len].fill(number),
                Kind::PerRow => outputs[*index][row] = number,
            }
        }
    }

    /// Computes the numbers before a pass.
    fn numbers(&mut self, stage: &Stage, row: usize) {
        for (id, number) in &stage.numbers {
            self.numbers[*id] = match *number {
                Number::Input(index) => self.inputs[index][row].as_f64(),
                Number::Const(value) => value,
                Number::Count => self.len as f64,
                Number::Op(op, operands) => op.number(operands.map(|of| self.numbers[of])),
            };
        }
    }

    /// Computes a block of a pass.
    fn block(&mut self, stage: usize, row: usize, block: usize, outputs: &mut [&mut [T]]) {
        let (plan, index) = (self.plan, stage);
        let stage = &plan.stages[index];
        let count = BLOCK.min(self.len - block * BLOCK);
        let start = row * self.len + block * BLOCK;
        for index in &stage.loads {
            let elements = &self.inputs[*index][start..start + count];
            if T::whole_block(elements).is_none() {
                T::read_block(elements, &mut self.copies[*index].0);
            }
        }
        for (step, (_, operands, target)) in stage.steps.iter().enumerate() {
            let kernel = self.kernels[index][step];
            self.ahead.fetch();
            match *target {
                Target::Register(register) => {
                    // Taken out of the list, so that it is not borrowed together with those of the operands.
                    let mut blocks = std::mem::take(&mut self.registers[register.index]);
                    let operands = operands.map(|source| self.source(source, start, block, count));
                    kernel(&operands, &mut blocks[position(register, block)].0, count);
                    self.registers[register.index] = blocks;
                }
                Target::Result(result) => {
                    let mut spare = std::mem::take(&mut self.spare);
                    let operands = operands.map(|source| self.source(source, start, block, count));
                    T::compute(&mut outputs[result][start..start + count], &mut spare[0].0, |result| {
                        kernel(&operands, result, count);
                    });
                    self.spare = spare;
                }
            }
        }
        for (at, (_, sources, _)) in stage.reductions.iter().enumerate() {
            self.ahead.fetch();
            let mut reducer = self.reducers[index][at];
            let [first, second] = sources.map(|source| &self.source(source, start, block, count)[..count]);
            reducer.add(first, second);
            self.reducers[index][at] = reducer;
        }
        for (index, source) in &stage.copies {
            T::write_block(self.source(*source, start, block, count), &mut outputs[*index][start..start + count]);
        }
    }

    fn source(&self, source: Source, start: usize, block: usize, count: usize) -> &Block<T::Computed> {
        match source {
            Source::Input(index) => {
                T::whole_block(&self.inputs[index][start..start + count]).unwrap_or(&self.copies[index].0)
            }
            Source::Register(register) => &self.registers[register.index][position(register, block)].0,
        }
    }
}

/// Where a block of a row is in a register.
fn position(register: Register, block: usize) -> usize {
    if register.is_whole { block } else { 0 }
}
