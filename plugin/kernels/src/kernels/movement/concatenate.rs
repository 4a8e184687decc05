//! Concatenation.

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::TensorType;
use smallvec::SmallVec;

use super::interleave::{interleave_few, place};
use crate::by_width;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::machine::{Block, Copy, Slot};
use crate::pool::{Cost, Pool};

/// Operands joined along a dimension: for each index of the dimensions before it, a piece of each operand in turn.
#[derive(Debug)]
pub(super) struct Concatenate {
    element: oxcall_hlo::ElementType,
    /// The number of indices of the dimensions before.
    outer: usize,
    /// The length of the piece of each operand.
    pieces: Vec<usize>,
}

impl Concatenate {
    pub(super) fn new(operands: &[&TensorType], dim: usize) -> Concatenate {
        let outer = operands[0].dims[..dim].iter().product();
        let pieces = operands.iter().map(|ty| ty.dims[dim..].iter().product()).collect();
        Concatenate { element: operands[0].element, outer, pieces }
    }

    fn row(&self) -> usize {
        self.pieces.iter().sum()
    }

    fn copy<T: Pod + Send + Sync>(&self, pool: &Pool, operands: &[&[T]], dst: &mut [T]) {
        if self.outer == 1 {
            // A few long pieces: each is split separately.
            let mut rest = dst;
            for operand in operands {
                let (piece, after) = rest.split_at_mut(operand.len());
                let cost = Cost { flops: 0.0, bytes: 2.0 * size_of_val(*operand) as f64 };
                pool.for_chunks(cost, piece, 4096, |start, chunk| {
                    chunk.copy_from_slice(&operand[start..][..chunk.len()]);
                });
                rest = after;
            }
            return;
        }
        let row = self.row();
        if row == operands.len() && self.pieces.iter().all(|&piece| piece == 1) {
            return pool.for_chunks(self.cost(), dst, row, |start, chunk| interleave(operands, start / row, chunk));
        }
        if row <= SHORT * operands.len() {
            return pool.for_chunks(self.cost(), dst, row, |start, chunk| {
                join_short(operands, &self.pieces, (start / row, row), chunk);
            });
        }
        pool.for_chunks(self.cost(), dst, row, |start, chunk| {
            for (i, mut rest) in chunk.chunks_exact_mut(row).enumerate() {
                let index = start / row + i;
                for (operand, &len) in operands.iter().zip(&self.pieces) {
                    let (piece, after) = rest.split_at_mut(len);
                    let from = &operand[index * len..][..len];
                    piece.copy_from_slice(from);
                    rest = after;
                }
            }
        });
    }
}

/// The most elements of a piece, on the average, that are copied operand by operand.
const SHORT: usize = 16;

/// Writes rows of `row` elements from the first one on: a piece of each operand in turn.
fn join_short<T: Pod>(operands: &[&[T]], pieces: &[usize], (first, row): (usize, usize), out: &mut [T]) {
    for (block, out) in out.chunks_mut(row * ROWS).enumerate() {
        let first = first + block * ROWS;
        let mut start = 0;
        for (operand, &len) in operands.iter().zip(pieces).filter(|(_, len)| **len > 0) {
            copy_short_rows((&operand[first * len..], len), (&mut out[start..], row), len);
            start += len;
        }
    }
}

/// Copies rows of `len` elements, a few, to as many rows. The rows of both begin at these distances.
fn copy_short_rows<T: Pod>((from, from_pitch): (&[T], usize), (to, to_pitch): (&mut [T], usize), len: usize) {
    /// A copy of `LEN` elements, if that is not 0, is an instruction or two.
    fn copy<T: Pod, const LEN: usize>(
        (from, from_pitch): (&[T], usize),
        (to, to_pitch): (&mut [T], usize),
        len: usize,
    ) {
        let len = if LEN == 0 { len } else { LEN };
        for (to, from) in to.chunks_mut(to_pitch).zip(from.chunks(from_pitch)) {
            to[..len].copy_from_slice(&from[..len]);
        }
    }
    let copy = match len {
        1 => copy::<T, 1>,
        2 => copy::<T, 2>,
        3 => copy::<T, 3>,
        4 => copy::<T, 4>,
        8 => copy::<T, 8>,
        16 => copy::<T, 16>,
        _ => copy::<T, 0>,
    };
    copy((from, from_pitch), (to, to_pitch), len);
}

/// Writes one element of each operand in turn, from `first` on.
fn interleave<T: Pod>(operands: &[&[T]], first: usize, out: &mut [T]) {
    let from: SmallVec<[&[T]; 4]> = operands.iter().map(|operand| &operand[first..]).collect();
    if interleave_few(&from, out) {
        return;
    }
    // Rows that stay in the nearest cache while each operand goes through them.
    let row = operands.len();
    for (block, out) in out.chunks_mut(row * ROWS).enumerate() {
        for (column, operand) in from.iter().enumerate() {
            place(&operand[block * ROWS..], column, row, out);
        }
    }
}

/// The rows to which one operand after another is written.
const ROWS: usize = 128;

impl Kernel for Concatenate {
    fn name(&self) -> String {
        "concatenate".into()
    }

    fn cost(&self) -> Cost {
        let count = (self.outer * self.row()) as f64;
        let pieces = (self.outer * self.pieces.len()) as f64;
        let each = if self.row() == self.pieces.len() { 4.0 } else { 20.0 };
        Cost { flops: each * pieces, bytes: 2.0 * count * self.element.byte_width() as f64 }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let width = self.element.byte_width();
        if !block.fits(self.outer * self.row()) {
            return None;
        }
        if self.outer == 1 && width == 4 && self.row() <= 4 && self.pieces.iter().all(|&piece| piece == 1) {
            return block.join_words(inputs.iter().map(|&input| (input, 0)), outputs[0]);
        }
        let row = self.row() * width;
        let pieces = inputs.iter().zip(&self.pieces).scan(0, |start, (&input, &piece)| {
            let (first, bytes) = (*start, piece * width);
            *start += bytes;
            let copy = |index: usize| Copy { from: index * bytes, to: first + index * row, bytes, width };
            Some((input, (0..self.outer).map(copy).collect()))
        });
        let copies: Vec<(Slot, SmallVec<[Copy; 4]>)> = pieces.collect();
        block.join(&copies, outputs[0])
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        by_width!(self.element, T => {
            let operands: Vec<&[T]> = (0..inputs.len()).map(|i| inputs.get(i)).collect();
            let dst = outputs.take::<T>(0);
            if !dst.is_empty() {
                self.copy(cx.pool, &operands, dst);
            }
        });
        Ok(())
    }
}
