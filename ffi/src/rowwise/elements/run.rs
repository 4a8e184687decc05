//! The loop over arrays, on the threads of the host.

use std::ops::Range;

use oxcall_math::real::Float;

use super::super::ops::Kernel;
use super::super::run::{Element, Kernels};
use super::{Plan, Source};
use crate::context::ThreadPool;
use crate::expression;
use crate::pointwise::block::{Aligned, BLOCK};

/// The elements of a piece, of which two are worth a second thread: about 30 microseconds of a softplus of `f32`.
/// Chosen by the cost of that function alone; sizes were not compared.
const PIECE: usize = 64 * BLOCK;

/// Applies a function to the elements of arrays of one size.
///
/// # Panics
/// If an array has another size, or there is another number of arrays than the plan has.
pub fn run<T: Element, const I: usize, const O: usize>(
    plan: &Plan,
    inputs: [&[T]; I],
    outputs: [&mut [T]; O],
    pool: ThreadPool<'_>,
) {
    T::elements(plan, &inputs, Vec::from(outputs), pool);
}

pub(in super::super) fn all<T: Kernels>(
    plan: &Plan,
    inputs: &[&[T]],
    mut outputs: Vec<&mut [T]>,
    pool: ThreadPool<'_>,
) {
    let arrays = (plan.program.inputs.len(), plan.results.len());
    assert_eq!(arrays, (inputs.len(), outputs.len()), "arrays of a pointwise function");
    let len = outputs.first().map_or(0, |output| output.len());
    let is_len = |other: usize| assert_eq!(other, len, "elements of an operand");
    inputs.iter().for_each(|input| is_len(input.len()));
    outputs.iter().for_each(|output| is_len(output.len()));
    if len == 0 {
        // Nothing to compute: a host may want to know what would be computed.
        return expression::offer(pool.context(), || plan.program.expression());
    }
    if len < 2 * PIECE || pool.num_threads() < 2 {
        return piece(plan, inputs, &mut outputs, 0);
    }
    let mut rests: Vec<_> = outputs.into_iter().map(|output| output.chunks_mut(PIECE)).collect();
    let mut pieces: Vec<Vec<&mut [T]>> = Vec::with_capacity(len.div_ceil(PIECE));
    for _ in 0..len.div_ceil(PIECE) {
        pieces.push(rests.iter_mut().filter_map(Iterator::next).collect());
    }
    pool.for_each_chunk(&mut pieces, 1, 1, |index, pieces| {
        pieces.iter_mut().for_each(|outputs| piece(plan, inputs, outputs, index * PIECE));
    });
}

/// Computes some elements of the results, those from `first` on, on this thread.
fn piece<T: Kernels>(plan: &Plan, inputs: &[&[T]], outputs: &mut [&mut [T]], first: usize) {
    let len = outputs.first().map_or(0, |output| output.len());
    let mut machine = Machine::<T>::new(plan, inputs.len());
    for start in (0..len).step_by(BLOCK) {
        machine.block(inputs, outputs, first, start..len.min(start + BLOCK));
    }
}

/// The memory in which blocks are computed.
struct Machine<'a, T: Kernels> {
    plan: &'a Plan,
    /// The code of the steps.
    kernels: Vec<Kernel<T::Computed>>,
    /// The blocks of operands that are converted, or end within the block.
    copies: Vec<Aligned<T::Computed>>,
    constants: Vec<Aligned<T::Computed>>,
    registers: Vec<Box<Aligned<T::Computed>>>,
    /// Where the next operation puts its result, before that takes its register's place.
    spare: Box<Aligned<T::Computed>>,
}

impl<'a, T: Kernels> Machine<'a, T> {
    fn new(plan: &'a Plan, operands: usize) -> Self {
        let zeros = Aligned::full(T::Computed::default());
        Machine {
            plan,
            kernels: plan.steps.iter().map(|step| T::kernel(step.op)).collect(),
            copies: vec![zeros; operands],
            constants: plan.constants.iter().map(|&number| Aligned::full(T::Computed::of_f64(number))).collect(),
            registers: (0..plan.registers).map(|_| Box::new(zeros)).collect(),
            spare: Box::new(zeros),
        }
    }

    /// Computes a block of the results; operands begin `first` elements earlier.
    fn block(&mut self, inputs: &[&[T]], outputs: &mut [&mut [T]], first: usize, range: Range<usize>) {
        let Machine { plan, kernels, copies, constants, registers, spare } = self;
        let elements = |index: usize| &inputs[index][first + range.start..first + range.end];
        for (index, copy) in copies.iter_mut().enumerate() {
            if T::whole_block(elements(index)).is_none() {
                T::read_block(elements(index), &mut copy.0);
            }
        }
        for (step, kernel) in plan.steps.iter().zip(kernels) {
            let operands = step.operands.map(|source| match source {
                Source::Operand(index) => T::whole_block(elements(index)).unwrap_or(&copies[index].0),
                Source::Constant(index) => &constants[index].0,
                Source::Register(index) => &registers[index].0,
            });
            kernel(&operands, &mut spare.0, range.len());
            std::mem::swap(&mut registers[step.register], spare);
        }
        for (output, source) in outputs.iter_mut().zip(&plan.results) {
            let output = &mut output[range.clone()];
            match *source {
                Source::Operand(index) => output.copy_from_slice(elements(index)),
                Source::Constant(index) => T::write_block(&constants[index].0, output),
                Source::Register(index) => T::write_block(&registers[index].0, output),
            }
        }
    }
}
