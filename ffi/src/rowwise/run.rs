//! The loop over the rows of arrays, on the threads of the host.

use oxcall_math::level::Level;
use oxcall_math::real::{Float, Scalar};
use oxcall_math::with_level;

use super::plan::{Number, Plan, Register, Source, Stage};
use super::program::Kind;
use super::reduce::Reducer;
use crate::context::ThreadPool;
use crate::pointwise::Stored;
use crate::pointwise::block::{BLOCK, Block, STEP};

/// The elements of a piece of rows, of which two are worth a second thread: as those of pointwise functions.
const PIECE: usize = 64 * BLOCK;

/// Computes a function of the rows of arrays. `shape` is that of an operand of rows; the arrays of numbers of rows have
/// it without its last dimension.
///
/// # Panics
/// If an array has another size, or there is another number of arrays than the plan has.
pub fn run<T: Stored, const I: usize, const O: usize>(
    plan: &Plan,
    inputs: [&[T]; I],
    outputs: [&mut [T]; O],
    shape: &[usize],
    pool: ThreadPool<'_>,
) {
    let [batch @ .., len] = shape else { panic!("rows have a dimension") };
    let (rows, len) = (batch.iter().product::<usize>(), *len);
    let size = |kind: &Kind| if *kind == Kind::Row { len } else { 1 };
    assert_eq!((plan.inputs.len(), plan.results.len()), (I, O), "arrays of a row-wise function");
    let is_whole = |of: usize, kind: &Kind| assert_eq!(of, rows * size(kind), "elements of an array of rows");
    inputs.iter().zip(&plan.inputs).for_each(|(input, kind)| is_whole(input.len(), kind));
    outputs.iter().zip(&plan.results).for_each(|(output, kind)| is_whole(output.len(), kind));
    let each = (PIECE / len.max(STEP)).max(1);
    if rows <= each || pool.num_threads() < 2 {
        return piece(plan, &inputs, outputs, len, rows);
    }
    let mut rests = outputs;
    let mut pieces: Vec<[&mut [T]; O]> = Vec::with_capacity(rows.div_ceil(each));
    for start in (0..rows).step_by(each) {
        let count = each.min(rows - start);
        let mut kinds = plan.results.iter();
        pieces.push(rests.each_mut().map(|rest| {
            let size = kinds.next().map_or(0, size);
            let (first, others) = std::mem::take(rest).split_at_mut(count * size);
            *rest = others;
            first
        }));
    }
    pool.for_each_chunk(&mut pieces, 1, 1, |index, pieces| {
        for outputs in pieces {
            let start = index * each;
            let count = each.min(rows - start);
            let mut kinds = plan.inputs.iter();
            let inputs = inputs.map(|input| {
                let size = kinds.next().map_or(0, size);
                &input[start * size..][..count * size]
            });
            piece(plan, &inputs, outputs.each_mut().map(|output| &mut **output), len, count);
        }
    });
}

/// Computes rows on this thread.
fn piece<T: Stored, const O: usize>(plan: &Plan, inputs: &[&[T]], mut outputs: [&mut [T]; O], len: usize, rows: usize) {
    let mut machine = Machine::new(plan, inputs, len);
    with_level!(L => (0..rows).for_each(|row| machine.row::<L>(row, &mut outputs)));
}

/// The memory in which rows are computed.
struct Machine<'a, T: Stored> {
    plan: &'a Plan,
    inputs: &'a [&'a [T]],
    len: usize,
    /// The blocks of operands that are converted, or end within the block.
    copies: Vec<Block<T::Computed>>,
    /// The registers, of one block or those of a row.
    registers: Vec<Vec<Block<T::Computed>>>,
    /// The numbers of the row, by value.
    numbers: Vec<T::Computed>,
    reducers: Vec<Reducer<T::Computed>>,
}

impl<'a, T: Stored> Machine<'a, T> {
    fn new(plan: &'a Plan, inputs: &'a [&'a [T]], len: usize) -> Self {
        let zeros = [T::Computed::default(); BLOCK];
        let register = |is_whole: &bool| vec![zeros; if *is_whole { len.div_ceil(BLOCK) } else { 1 }];
        Machine {
            plan,
            inputs,
            len,
            copies: vec![zeros; inputs.len()],
            registers: plan.registers.iter().map(register).collect(),
            numbers: vec![T::Computed::default(); plan.values],
            reducers: Vec::new(),
        }
    }

    /// Computes a row.
    fn row<L: Level>(&mut self, row: usize, outputs: &mut [&mut [T]]) {
        let plan = self.plan;
        for stage in &plan.stages {
            self.numbers(stage, row);
            if !stage.has_pass() {
                continue;
            }
            for (number, register) in &stage.spreads {
                let filled = self.len.next_multiple_of(STEP).min(BLOCK);
                self.registers[register.index][0][..filled].fill(self.numbers[*number]);
            }
            self.reducers.clear();
            self.reducers.extend(stage.reductions.iter().map(|(reduce, ..)| Reducer::new(*reduce)));
            for block in 0..self.len.div_ceil(BLOCK) {
                self.block::<L>(stage, row, block, outputs);
            }
            for (reducer, (.., number)) in self.reducers.iter().zip(&stage.reductions) {
                self.numbers[*number] = reducer.finish();
            }
        }
        for (index, number) in &plan.numbers {
            let number = T::from_f64(self.numbers[*number].as_f64());
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
                Number::Input(index) => T::Computed::of_f64(self.inputs[index][row].as_f64()),
                Number::Const(value) => T::Computed::of_f64(value),
                Number::Count => T::Computed::of_f64(self.len as f64),
                Number::Op(op, operands) => op.call(operands.map(|of| Scalar(self.numbers[of]))).0,
            };
        }
    }

    /// Computes a block of a pass.
    fn block<L: Level>(&mut self, stage: &Stage, row: usize, block: usize, outputs: &mut [&mut [T]]) {
        let count = BLOCK.min(self.len - block * BLOCK);
        let start = row * self.len + block * BLOCK;
        for index in &stage.loads {
            let elements = &self.inputs[*index][start..start + count];
            if T::whole_block(elements).is_none() {
                T::read_block(elements, &mut self.copies[*index]);
            }
        }
        for (op, operands, register) in &stage.steps {
            // Taken out of the list, so that it is not borrowed together with those of the operands.
            let mut blocks = std::mem::take(&mut self.registers[register.index]);
            let operands = operands.map(|source| self.source(source, start, block, count));
            op.run::<_, L>(operands, &mut blocks[position(*register, block)], count);
            self.registers[register.index] = blocks;
        }
        for (index, (_, source, _)) in stage.reductions.iter().enumerate() {
            let mut reducer = self.reducers[index];
            reducer.add::<L>(&self.source(*source, start, block, count)[..count]);
            self.reducers[index] = reducer;
        }
        for (index, source) in &stage.writes {
            T::write_block(self.source(*source, start, block, count), &mut outputs[*index][start..start + count]);
        }
    }

    fn source(&self, source: Source, start: usize, block: usize, count: usize) -> &Block<T::Computed> {
        match source {
            Source::Input(index) => {
                T::whole_block(&self.inputs[index][start..start + count]).unwrap_or(&self.copies[index])
            }
            Source::Register(register) => &self.registers[register.index][position(register, block)],
        }
    }
}

/// Where a block of a row is in a register.
fn position(register: Register, block: usize) -> usize {
    if register.is_whole { block } else { 0 }
}
