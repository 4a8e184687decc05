//! The loop over arrays, on the threads of the host.

use std::ops::Range;

use oxcall_math::real::Float;

use super::super::ahead::{Ahead, CACHED};
use super::super::ops::Kernel;
use super::super::plan::Target;
use super::super::run::{Element, Kernels};
use super::{Operand, Plan, Source};
use crate::context::{CHUNKS, ThreadPool};
use crate::expression;
use crate::pointwise::block::{Aligned, BLOCK, Block};
use crate::pointwise::pages::prefer_huge;

/// The fewest elements of a piece, of which two are worth a second thread: some 30 microseconds of a softplus of `f32`.
/// Chosen by the cost of that function alone; sizes were not compared.
const PIECE: usize = 32 * BLOCK;

/// Applies a function to the elements of arrays.
///
/// # Panics
/// If an array has another size, or there is another number of arrays than the plan has.
pub fn run<T: Element, const I: usize, const O: usize>(
    plan: &Plan,
    inputs: [Operand<'_, T>; I],
    outputs: [&mut [T]; O],
    pool: ThreadPool<'_>,
) {
    T::elements(plan, &inputs, Vec::from(outputs), pool);
}

pub(in super::super) fn all<T: Kernels>(
    plan: &Plan,
    inputs: &[Operand<'_, T>],
    outputs: Vec<&mut [T]>,
    pool: ThreadPool<'_>,
) {
    let arrays = (plan.program.inputs.len(), plan.results);
    assert_eq!(arrays, (inputs.len(), outputs.len()), "arrays of a pointwise function");
    let len = outputs.first().map_or(0, |output| output.len());
    outputs.iter().for_each(|output| assert_eq!(output.len(), len, "elements of a result"));
    if len == 0 {
        // Nothing to compute: a host may want to know what would be computed.
        return expression::offer(pool.context(), || plan.program.expression());
    }
    let is_large = len * (inputs.len() + outputs.len()) * size_of::<T>() > CACHED;
    each_piece(outputs, pool, |outputs, first| piece(plan, inputs, outputs, first, is_large));
}

/// Gives pieces of results to a function, on threads, with the index of their first elements.
pub(super) fn each_piece<T: Send>(
    mut outputs: Vec<&mut [T]>,
    pool: ThreadPool<'_>,
    compute: impl Fn(&mut [&mut [T]], usize) + Sync,
) {
    let len = outputs.first().map_or(0, |output| output.len());
    prefer_huge(&outputs);
    if len < 2 * PIECE || pool.num_threads() < 2 {
        return compute(&mut outputs, 0);
    }
    let size = PIECE.max((len / (CHUNKS * pool.num_threads())).next_multiple_of(PIECE));
    let mut rests: Vec<_> = outputs.into_iter().map(|output| output.chunks_mut(size)).collect();
    let mut pieces: Vec<Vec<&mut [T]>> = Vec::with_capacity(len.div_ceil(size));
    for _ in 0..len.div_ceil(size) {
        pieces.push(rests.iter_mut().filter_map(Iterator::next).collect());
    }
    pool.for_each_chunk(&mut pieces, 1, 1, |index, pieces| {
        pieces.iter_mut().for_each(|outputs| compute(outputs, index * size));
    });
}

/// Computes some elements of the results, those from `first` on, on this thread, where blocks of large arrays are
/// fetched ahead.
pub(super) fn piece<'a, T: Kernels>(
    plan: &'a Plan,
    inputs: &[Operand<'a, T>],
    outputs: &mut [&mut [T]],
    first: usize,
    is_large: bool,
) {
    let len = outputs.first().map_or(0, |output| output.len());
    let mut machine = Machine::<T>::new(plan, inputs);
    for start in (0..len).step_by(BLOCK) {
        let end = len.min(start + BLOCK);
        if is_large {
            machine.look_ahead(inputs, outputs, first, end..len.min(end + BLOCK));
        }
        machine.block(inputs, outputs, first, start..end);
    }
}

/// The memory in which blocks are computed.
struct Machine<'a, T: Kernels> {
    plan: &'a Plan,
    /// The elements of operands that are broadcast, before they are converted.
    gathered: Vec<Vec<T>>,
    /// The blocks of operands that can be read where they are.
    in_place: Vec<Option<&'a Block<T::Computed>>>,
    /// The code of the steps.
    kernels: Vec<Kernel<T::Computed>>,
    /// All blocks, one after the other: copies of operands, constants, registers and a spare one. Their distance is
    /// what a processor that compares the low bits of addresses takes for no conflict between a block's stores and the
    /// loads of another.
    blocks: Vec<Aligned<T::Computed>>,
    /// The block after this one.
    ahead: Ahead,
    /// Where the registers are.
    registers: Vec<usize>,
    /// The block in which the next operation puts its result, before that takes its register's place.
    spare: usize,
}

impl<'a, T: Kernels> Machine<'a, T> {
    fn new(plan: &'a Plan, operands: &[Operand<'a, T>]) -> Self {
        let zeros = Aligned::full(T::Computed::default());
        let room = |operand: &Operand<'_, T>| if operand.is_repeated() { BLOCK } else { 0 };
        let mut blocks = vec![zeros; operands.len()];
        blocks.extend(plan.constants.iter().map(|&number| Aligned::full(T::Computed::of_f64(number))));
        let first = blocks.len();
        blocks.resize(first + plan.registers + 1, zeros);
        Machine {
            plan,
            gathered: operands.iter().map(|operand| vec![T::from_f64(0.0); room(operand)]).collect(),
            in_place: vec![None; operands.len()],
            kernels: plan.steps.iter().map(|step| T::kernel(step.op)).collect(),
            blocks,
            ahead: Ahead::new(operands.len() + plan.results),
            registers: (first..first + plan.registers).collect(),
            spare: first + plan.registers,
        }
    }

    /// Tells which block follows, if there is one.
    fn look_ahead(&mut self, inputs: &[Operand<'a, T>], outputs: &[&mut [T]], first: usize, next: Range<usize>) {
        if next.is_empty() {
            return;
        }
        let bytes = size_of::<T>() * next.len();
        let reads = inputs.iter().filter_map(|input| input.slice(first + next.start..first + next.end));
        let writes = outputs.iter().map(|output| &output[next.clone()]);
        self.ahead.set(reads.chain(writes).map(|block| block.as_ptr().cast()), bytes, self.plan.steps.len());
    }

    /// Computes a block of the results; operands begin `first` elements earlier.
    fn block(&mut self, inputs: &[Operand<'a, T>], outputs: &mut [&mut [T]], first: usize, range: Range<usize>) {
        let Machine { plan, gathered, in_place, kernels, blocks, ahead, registers, spare } = self;
        let read = first + range.start..first + range.end;
        for (index, (input, gathered)) in inputs.iter().zip(gathered).enumerate() {
            let elements = input.slice(read.clone());
            in_place[index] = elements.and_then(T::whole_block);
            if in_place[index].is_none() {
                let elements = elements.unwrap_or_else(|| {
                    input.gather(read.start, &mut gathered[..read.len()]);
                    &gathered[..read.len()]
                });
                T::read_block(elements, &mut blocks[index].0);
            }
        }
        let constants = inputs.len();
        for (step, kernel) in plan.steps.iter().zip(kernels) {
            ahead.fetch();
            let (before, rest) = blocks.split_at_mut(*spare);
            let [result, after @ ..] = rest else { unreachable!("a block is spare") };
            let after = &*after;
            let block = |index: usize| if index < *spare { &before[index].0 } else { &after[index - *spare - 1].0 };
            let operands = step.operands.map(|source| match source {
                Source::Operand(index) => in_place[index].unwrap_or(block(index)),
                Source::Constant(index) => block(constants + index),
                Source::Register(index) => block(registers[index]),
            });
            match step.target {
                Target::Register(register) => {
                    kernel(&operands, &mut result.0, range.len());
                    std::mem::swap(&mut registers[register], spare);
                }
                Target::Result(index) => {
                    T::compute(&mut outputs[index][range.clone()], &mut result.0, |result| {
                        kernel(&operands, result, range.len());
                    });
                }
            }
        }
        for (index, source) in &plan.copies {
            let output = &mut outputs[*index][range.clone()];
            match *source {
                Source::Operand(index) => match inputs[index].slice(read.clone()) {
                    Some(elements) => output.copy_from_slice(elements),
                    None => inputs[index].gather(read.start, output),
                },
                Source::Constant(index) => T::write_block(&blocks[constants + index].0, output),
                Source::Register(index) => T::write_block(&blocks[registers[index]].0, output),
            }
        }
    }
}
