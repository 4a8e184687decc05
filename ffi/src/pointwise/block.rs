//! The loop over a block of elements, compiled for each set of vector instructions.

use oxcall_math::level::Level;
use oxcall_math::real::{Float, Scalar, SimdLane, unrolled};

use super::Map;

/// The elements of a block: few enough that the blocks of a function's operations stay in the first cache.
pub(crate) const BLOCK: usize = 512;

/// A loop runs over this many elements, so that none is left over from vectors.
pub(crate) const STEP: usize = 64;

/// A block of elements.
pub(crate) type Block<F> = [F; BLOCK];

/// A block in memory of its own, where no vector is part of two cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Aligned<F>(pub(crate) Block<F>);

impl<F: Float> Aligned<F> {
    /// A block of one number.
    pub(crate) fn full(number: F) -> Self {
        Aligned([number; BLOCK])
    }
}

/// Computes the first elements of a block of results from those of the first operands, for a level; the rest may be
/// anything.
///
/// The compiler makes vectors of the loop of a single operation, but not of that of a function of many. The operands
/// come by reference: a copy of the list would read two pointers at once, which the caller has just stored one by one,
/// and wait for the stores.
#[inline(always)]
pub(crate) fn block<F: Float, M: Map<I, 1>, L: Level, const I: usize, const N: usize>(
    map: M,
    inputs: &[&Block<F>; N],
    output: &mut Block<F>,
    count: usize,
) {
    let unusual = L::enter(
        #[inline(always)]
        || {
            let mut unusual = F::Flags::default();
            for start in (0..count.min(BLOCK)).step_by(STEP) {
                let mut operands = [step(inputs[0], start); I];
                unrolled::<I>(
                    #[inline(always)]
                    |input| operands[input] = step(inputs[input], start),
                );
                // In memory of the loop's own, so that the compiler knows that no operand changes.
                let mut chunk = [F::default(); STEP];
                for (index, result) in chunk.iter_mut().enumerate() {
                    let [lane] = map.call(lanes::<F, L, I, I, STEP>(&operands, index));
                    unusual = unusual | SimdLane::unusual(&[lane]);
                    *result = lane.value;
                }
                output[start..start + STEP].copy_from_slice(&chunk);
            }
            unusual
        },
    );
    // Never, where a function does not mark elements: the compiler leaves this call out.
    if unusual != F::Flags::default() {
        repair::<F, M, L, I, N>(map, inputs, output, count);
    }
}

/// The same for a function of several numbers at a time, which is accurate for all of them: a quarter of a step is
/// computed beside the other three.
#[inline(always)]
pub(crate) fn fours<F: Float, L: Level, const I: usize, const N: usize>(
    inputs: &[&Block<F>; N],
    output: &mut Block<F>,
    count: usize,
    function: impl Fn([F::Four; I]) -> F::Four,
) {
    const QUARTER: usize = STEP / 4;
    L::enter(
        #[inline(always)]
        || {
            for start in (0..count.min(BLOCK)).step_by(STEP) {
                let mut operands = [step(inputs[0], start); I];
                unrolled::<I>(
                    #[inline(always)]
                    |input| operands[input] = step(inputs[input], start),
                );
                let mut chunk = [[F::default(); QUARTER]; 4];
                for index in 0..QUARTER {
                    let mut lanes = [F::four([F::default(); 4]); I];
                    unrolled::<I>(
                        #[inline(always)]
                        |input| {
                            let of = operands[input];
                            lanes[input] = F::four([
                                of[index],
                                of[QUARTER + index],
                                of[2 * QUARTER + index],
                                of[3 * QUARTER + index],
                            ]);
                        },
                    );
                    let [a, b, c, d] = F::of_four(function(lanes));
                    (chunk[0][index], chunk[1][index], chunk[2][index], chunk[3][index]) = (a, b, c, d);
                }
                output[start..start + STEP].copy_from_slice(chunk.as_flattened());
            }
        },
    );
}

/// Some elements of a block.
#[inline(always)]
fn step<F>(block: &Block<F>, start: usize) -> &[F; STEP] {
    block[start..].first_chunk().expect("the size of a step divides a block's")
}

/// The operands at an index.
#[inline(always)]
fn lanes<F: Float, L: Level, const I: usize, const N: usize, const LEN: usize>(
    inputs: &[&[F; LEN]; N],
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
fn repair<F: Float, M: Map<I, 1>, L: Level, const I: usize, const N: usize>(
    map: M,
    inputs: &[&Block<F>; N],
    output: &mut Block<F>,
    count: usize,
) {
    for (index, output) in output.iter_mut().enumerate().take(count) {
        let [lane] = map.call(lanes::<F, L, I, N, BLOCK>(inputs, index));
        if lane.is_unusual() {
            let [Scalar(result)] = map.call(lanes::<F, L, I, N, BLOCK>(inputs, index).map(|lane| Scalar(lane.value)));
            *output = result;
        }
    }
}
