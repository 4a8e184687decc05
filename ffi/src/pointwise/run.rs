//! The loop over arrays, on the threads of the host.

use oxcall_math::real::Expression;

use super::block::{BLOCK, kernel};
use super::{Map, Stored};
use crate::context::ThreadPool;
use crate::expression;

/// The elements of a piece, of which two are worth a second thread: about 30 microseconds of a softplus of `f32`.
/// Chosen by the cost of that function alone; sizes were not compared.
const PIECE: usize = 64 * BLOCK;

/// Applies a function to the elements of arrays of one size.
///
/// # Panics
/// If an array has another size; with the panic of `map`.
pub fn run<T: Stored, M: Map<I, O>, const I: usize, const O: usize>(
    map: M,
    inputs: [&[T]; I],
    outputs: [&mut [T]; O],
    pool: ThreadPool<'_>,
) {
    let len = outputs.first().map_or(0, |output| output.len());
    let is_len = |other: usize| assert_eq!(other, len, "elements of an operand");
    inputs.iter().for_each(|input| is_len(input.len()));
    outputs.iter().for_each(|output| is_len(output.len()));
    if len == 0 {
        // Nothing to compute: a host may want to know what would be computed.
        return expression::offer(pool.context(), || Expression::trace(|inputs| map.call(inputs)));
    }
    if len < 2 * PIECE || pool.num_threads() < 2 {
        return piece(map, inputs, outputs);
    }
    let mut rests = outputs.map(|output| output.chunks_mut(PIECE));
    let mut pieces: Vec<[&mut [T]; O]> = Vec::with_capacity(len.div_ceil(PIECE));
    for _ in 0..len.div_ceil(PIECE) {
        pieces.push(rests.each_mut().map(|rest| rest.next().unwrap_or_default()));
    }
    pool.for_each_chunk(&mut pieces, 1, 1, |index, pieces| {
        for outputs in pieces {
            let inputs = inputs.map(|input| &input[index * PIECE..len.min((index + 1) * PIECE)]);
            piece(map, inputs, outputs.each_mut().map(|output| &mut **output));
        }
    });
}

/// Applies a function to elements on this thread, block by block.
fn piece<T: Stored, M: Map<I, O>, const I: usize, const O: usize>(
    map: M,
    inputs: [&[T]; I],
    mut outputs: [&mut [T]; O],
) {
    let kernel = kernel::<T::Computed, M, I, O>();
    let zeros = [T::Computed::default(); BLOCK];
    let (mut copies, mut results) = ([zeros; I], [zeros; O]);
    let len = outputs.first().map_or(0, |output| output.len());
    for start in (0..len).step_by(BLOCK) {
        let end = len.min(start + BLOCK);
        let mut blocks = [&zeros; I];
        for ((block, copy), input) in blocks.iter_mut().zip(&mut copies).zip(inputs) {
            *block = T::read_block(&input[start..end], copy);
        }
        kernel(map, &blocks, &mut results, end - start);
        for (output, result) in outputs.iter_mut().zip(&results) {
            T::write_block(result, &mut output[start..end]);
        }
    }
}
