//! Collectives that reduce the operands of all participants, element by element, in the order of the group. Blocks are
//! small enough to stay in a cache from their first operand to their last result.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, Func, Region, TensorType};
use oxcall_kernels::element::{Element, Scalar};
use oxcall_kernels::kernel::Context;
use oxcall_kernels::kernels::combine::{Combine, by_combine};
use oxcall_kernels::pool::Cost;
use oxcall_kernels::scalar::{self, Body, Program};
use oxcall_math::level::vectorised;

use super::roots::Roots;
use super::{CollectiveKernel, Group, ParticipantBuffers, strides};

/// The size of a block, in bytes.
const BLOCK: usize = 32 * 1024;

/// The work that one thread takes at a time, in bytes of each operand.
const PIECE: usize = 8 * BLOCK;

/// A block of elements of any type.
type Block = [u64; BLOCK / 8];

/// Reduces operands of equal length, at most a block, into the last argument.
type Loops = fn(&[&[u8]], &mut [u8]);

/// The way in which elements of several operands are combined.
enum Reducer {
    /// Specialised loops.
    Fast(Loops),
    /// A register program.
    Body(Box<Program>, usize),
}

/// The number of elements whose sums are kept at a time.
const LANES: usize = 512;

vectorised! {
/// Combines each accumulator with an element.
fn accumulate<T: Element, C: Combine<T::Wide>>(sums: &mut [T::Wide], operand: &[T]) {
    sums.iter_mut().zip(operand).for_each(|(sum, x)| *sum = C::combine(*sum, x.widen()));
}
}

vectorised! {
/// Reduces four operands in one pass: besides memory traffic, passes over the L1 cache cost time.
fn reduce_four<T: Element, C: Combine<T::Wide>>(operands: [&[T]; 4], result: &mut [T]) {
    let [a, b, c, d] = operands;
    for ((((result, a), b), c), d) in result.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *result = T::narrow(C::combine(C::combine(C::combine(a.widen(), b.widen()), c.widen()), d.widen()));
    }
}
}

/// The elements as they are computed. Compiled for types, and not for each function too.
#[inline(never)]
fn widen<T: Element>(operand: &[T], sums: &mut [T::Wide]) {
    sums.iter_mut().zip(operand).for_each(|(sum, x)| *sum = x.widen());
}

/// The elements of sums.
#[inline(never)]
fn narrow<T: Element>(sums: &[T::Wide], result: &mut [T]) {
    result.iter_mut().zip(sums).for_each(|(result, &sum)| *result = T::narrow(sum));
}

/// Reduces operands of equal length by a recognised function. Narrow floats are rounded once.
fn reduce<T: Element, C: Combine<T::Wide>>(operands: &[&[u8]], result: &mut [u8]) {
    if let &[a, b, c, d] = operands {
        return reduce_four::<T, C>([a, b, c, d].map(bytemuck::cast_slice), bytemuck::cast_slice_mut(result));
    }
    let mut sums = [C::IDENTITY; LANES];
    for (index, result) in bytemuck::cast_slice_mut::<u8, T>(result).chunks_mut(LANES).enumerate() {
        let sums = &mut sums[..result.len()];
        for (rank, operand) in operands.iter().enumerate() {
            let operand = &bytemuck::cast_slice::<u8, T>(operand)[index * LANES..][..sums.len()];
            match rank {
                0 => widen(operand, sums),
                _ => accumulate::<T, C>(sums, operand),
            }
        }
        narrow(sums, result);
    }
}

fn fast(function: BinaryOp, element: ElementType) -> Option<Loops> {
    by_combine!(@narrow function, element, (T, C) => { reduce::<T, C> as Loops })
}

impl Reducer {
    fn new(func: &Func, body: &Region, element: ElementType) -> Result<Reducer, Error> {
        if let Some(Body::Binary(function)) = scalar::idiom(&func.values, body)
            && let Some(fast) = fast(function, element)
        {
            return Ok(Reducer::Fast(fast));
        }
        let program = Program::new(func, &body.params, &body.ops, &body.results)?;
        Ok(Reducer::Body(Box::new(program), element.byte_width()))
    }

    /// Reduces operands of equal length, at most a block.
    fn reduce(&self, operands: &[&[u8]], result: &mut [u8]) {
        let (program, width) = match self {
            Reducer::Fast(reduce) => return reduce(operands, result),
            Reducer::Body(program, width) => (program, *width),
        };
        let mut evaluator = program.evaluator();
        for (index, result) in result.chunks_exact_mut(width).enumerate() {
            let element = |operand: &&[u8]| Scalar::from_bytes(&operand[index * width..][..width]);
            let reduced = operands.iter().map(element).reduce(|sum, x| evaluator.call1(&[sum, x]));
            result.copy_from_slice(&reduced.unwrap_or_default().0.to_le_bytes()[..width]);
        }
    }

    fn cost(&self, elements: f64, bytes: f64) -> Cost {
        let flops = match self {
            Reducer::Fast(_) => elements,
            Reducer::Body(program, _) => 20.0 * elements * (2 + program.len()) as f64,
        };
        Cost { flops, bytes }
    }
}

fn elements(operands: &[&TensorType]) -> (f64, f64) {
    let count = operands.iter().map(|operand| operand.count()).sum::<usize>();
    let bytes = operands.iter().map(|operand| operand.byte_size()).sum::<usize>();
    (count as f64, bytes as f64)
}

/// Reduces operands to one result, for all participants or for the root of the group alone; then the others get zeros.
pub(super) struct AllReduce {
    /// One for each operand.
    reducers: Vec<Reducer>,
    roots: Option<Roots>,
    cost: Cost,
}

impl AllReduce {
    pub(super) fn new(
        func: &Func,
        body: &Region,
        operands: &[&TensorType],
        roots: Option<Roots>,
    ) -> Result<AllReduce, Error> {
        let reducers = operands.iter().map(|operand| Reducer::new(func, body, operand.element));
        let reducers = reducers.collect::<Result<Vec<_>, _>>()?;
        let costs = reducers.iter().zip(operands).map(|(reducer, operand)| {
            let (elements, bytes) = elements(&[operand]);
            reducer.cost(elements, 2.0 * bytes)
        });
        let cost = costs.fold(Cost::default(), |all, cost| all + cost);
        Ok(AllReduce { reducers, roots, cost })
    }
}

/// One thread's share of a reduction: the same bytes of each participant's result.
struct Piece<'a> {
    first: usize,
    results: Vec<&'a mut [u8]>,
}

impl CollectiveKernel for AllReduce {
    fn cost(&self) -> Cost {
        self.cost
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        (0..self.reducers.len()).map(|index| (index, index)).collect()
    }

    fn run(&self, cx: Context<'_>, _: &Group, mut participants: Vec<ParticipantBuffers<'_>>) -> Result<(), Error> {
        let count = participants.len() as f64;
        let cost = Cost { flops: count * self.cost.flops, bytes: count * self.cost.bytes };
        for (index, reducer) in self.reducers.iter().enumerate() {
            let root = self.roots.map(|roots| roots.of(&participants, index)).transpose()?;
            let operands: Vec<Option<&[u8]>> = participants
                .iter()
                .map(|participant| (!participant.inputs.is_in_place(index)).then(|| participant.inputs.get(index)))
                .collect();
            let mut results: Vec<_> = participants
                .iter_mut()
                .map(|participant| participant.outputs.take::<u8>(index).chunks_mut(PIECE))
                .collect();
            let pieces = results.first().map_or(0, ExactSizeIterator::len);
            let piece = |place: usize| Piece {
                first: place * PIECE,
                results: results.iter_mut().filter_map(Iterator::next).collect(),
            };
            let pieces: Vec<Piece<'_>> = (0..pieces).map(piece).collect();
            cx.pool.for_each(cost, pieces, |piece| reduce_piece(reducer, &operands, root, piece));
        }
        Ok(())
    }
}

/// Reduces a piece block by block, for the participant `root` or for all. A missing operand is in its participant's
/// result.
fn reduce_piece(reducer: &Reducer, operands: &[Option<&[u8]>], root: Option<usize>, mut piece: Piece<'_>) {
    let mut block: Block = [0; BLOCK / 8];
    let len = piece.results.first().map_or(0, |result| result.len());
    for first in (0..len).step_by(BLOCK) {
        let bytes = first..(first + BLOCK).min(len);
        let block = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut block)[..bytes.len()];
        let here = operands.iter().zip(&piece.results).map(|(operand, result)| match operand {
            Some(operand) => &operand[piece.first + first..][..bytes.len()],
            None => &result[bytes.clone()],
        });
        reducer.reduce(&here.collect::<Vec<_>>(), block);
        for (place, result) in piece.results.iter_mut().enumerate() {
            match root {
                Some(root) if root != place => result[bytes.clone()].fill(0),
                _ => result[bytes.clone()].copy_from_slice(block),
            }
        }
    }
}

/// Reduces operands, and gives each participant one part of the result.
pub(super) struct ReduceScatter {
    reducer: Reducer,
    /// The length of a contiguous run of a part, in bytes.
    len: usize,
    /// The distance from one such run of a participant to its next, in bytes.
    stride: usize,
    cost: Cost,
}

impl ReduceScatter {
    pub(super) fn new(
        func: &Func,
        body: &Region,
        operand: &TensorType,
        dim: usize,
        size: usize,
    ) -> Result<ReduceScatter, Error> {
        let reducer = Reducer::new(func, body, operand.element)?;
        let stride = strides(operand)[dim] * operand.dims[dim];
        let (elements, bytes) = elements(&[operand]);
        let cost = reducer.cost(elements, bytes);
        Ok(ReduceScatter { reducer, len: stride / size.max(1), stride, cost })
    }
}

impl CollectiveKernel for ReduceScatter {
    fn cost(&self) -> Cost {
        self.cost
    }

    fn run(&self, cx: Context<'_>, _: &Group, mut participants: Vec<ParticipantBuffers<'_>>) -> Result<(), Error> {
        let operands: Vec<&[u8]> = participants.iter().map(|participant| participant.inputs.get(0)).collect();
        for (place, participant) in participants.iter_mut().enumerate() {
            let result = participant.outputs.take::<u8>(0);
            cx.pool.for_chunks(self.cost, result, 64, |first, mut result| {
                let mut at = first;
                while !result.is_empty() {
                    let (part, within) = (at / self.len, at % self.len);
                    let len = (self.len - within).min(BLOCK).min(result.len());
                    let (block, rest) = result.split_at_mut(len);
                    let from = part * self.stride + place * self.len + within;
                    let here: Vec<&[u8]> = operands.iter().map(|operand| &operand[from..][..len]).collect();
                    self.reducer.reduce(&here, block);
                    (result, at) = (rest, at + len);
                }
            });
        }
        Ok(())
    }
}
