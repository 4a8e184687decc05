//! The loop over a block of elements, compiled for each set of vector instructions.

#![allow(clippy::needless_range_loop, reason = "several arrays have the same lanes")]

use oxcall_math::level::Level;
use oxcall_math::real::{Float, Scalar, SimdLane, unrolled};
use oxcall_math::with_level;

use super::Map;

/// The elements of a block: few enough that the operands and results of a call stay in the first cache.
pub(crate) const BLOCK: usize = 256;

/// A loop runs over this many elements, so that none is left over from vectors.
pub(crate) const STEP: usize = 64;

/// A block of elements.
pub(crate) type Block<F> = [F; BLOCK];

/// Computes the first elements of a block of each result from those of the operands; the rest may be anything.
pub(super) type Kernel<F, M, const I: usize, const O: usize> =
    fn(map: M, inputs: &[&Block<F>; I], outputs: &mut [Block<F>; O], count: usize);

/// The kernel for the processor.
pub(super) fn kernel<F: Float, M: Map<I, O>, const I: usize, const O: usize>() -> Kernel<F, M, I, O> {
    with_level!(L => block::<F, M, L, I, O>)
}

/// Computes the first elements of a block, as [`Kernel`] says, for a level.
pub(crate) fn block<F: Float, M: Map<I, O>, L: Level, const I: usize, const O: usize>(
    map: M,
    inputs: &[&Block<F>; I],
    outputs: &mut [Block<F>; O],
    count: usize,
) {
    L::enter(
        #[inline(always)]
        || {
            let mut unusual = F::Flags::default();
            for start in (0..count.min(BLOCK)).step_by(STEP) {
                // In memory of the loop's own, so that the compiler knows that no operand changes.
                let zeros = [F::default(); STEP];
                let (mut operands, mut chunk) = ([&zeros; I], [zeros; O]);
                for (operand, input) in operands.iter_mut().zip(inputs) {
                    *operand = input[start..start + STEP].try_into().expect("the size of a step divides a block's");
                }
                #[expect(clippy::needless_range_loop, reason = "several arrays have the index")]
                for index in 0..STEP {
                    let results = map.call(lanes::<F, L, I, STEP>(&operands, index));
                    unusual = unusual | SimdLane::unusual(&results);
                    unrolled::<O>(
                        #[inline(always)]
                        |result| chunk[result][index] = results[result].value,
                    );
                }
                for (output, column) in outputs.iter_mut().zip(&chunk) {
                    output[start..start + STEP].copy_from_slice(column);
                }
            }
            // Never, where no function is used that marks elements: the compiler leaves this call out.
            if unusual != F::Flags::default() {
                repair::<F, M, L, I, O>(map, inputs, outputs, count);
            }
        },
    );
}

/// The operands at an index.
#[inline(always)]
fn lanes<F: Float, L: Level, const I: usize, const N: usize>(
    inputs: &[&[F; N]; I],
    index: usize,
) -> [SimdLane<F, L>; I] {
    let mut lanes = [SimdLane::new(F::default()); I];
    unrolled::<I>(
        #[inline(always)]
        |input| lanes[input] = SimdLane::new(inputs[input][index]),
    );
    lanes
}

/// Computes the elements again for which the kernels are not accurate. An element's result does not depend on those
/// beside it.
#[cold]
#[inline(never)]
fn repair<F: Float, M: Map<I, O>, L: Level, const I: usize, const O: usize>(
    map: M,
    inputs: &[&Block<F>; I],
    outputs: &mut [Block<F>; O],
    count: usize,
) {
    for index in 0..count.min(BLOCK) {
        if map.call(lanes::<F, L, I, BLOCK>(inputs, index)).iter().any(|lane| lane.is_unusual()) {
            let results = map.call(lanes::<F, L, I, BLOCK>(inputs, index).map(|lane| Scalar(lane.value)));
            for (output, Scalar(result)) in outputs.iter_mut().zip(results) {
                output[index] = result;
            }
        }
    }
}
