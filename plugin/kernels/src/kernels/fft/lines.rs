//! Transforms along a dimension that is not the last.

use std::sync::Arc;

use bytemuck::Pod;
use oxcall::Error;
use rustfft::{Fft, FftNum};

use crate::element::Complex;
use crate::kernel::Context;
use crate::kernels::movement::transposed_rows;
use crate::pool::Cost;

/// The number of neighbouring lines that are copied together: the contents of one cache line of the array.
const TOGETHER: usize = 8;

/// Transforms along one dimension.
pub(super) struct Lines<F: FftNum + Pod> {
    plan: Arc<dyn Fft<F>>,
    /// Elements of the dimensions inside it.
    inside: usize,
}

impl<F: FftNum + Pod> Lines<F> {
    pub(super) fn new(plan: Arc<dyn Fft<F>>, inside: usize) -> Lines<F> {
        Lines { plan, inside }
    }

    /// Transforms each line of `data` through `memory` of the same size, where the elements of each line are
    /// contiguous.
    pub(super) fn run(
        &self,
        cx: Context<'_>,
        cost: Cost,
        data: &mut [Complex<F>],
        memory: &mut [Complex<F>],
    ) -> Result<(), Error> {
        let (length, inside) = (self.plan.len(), self.inside);
        cx.pool.for_chunks(cost, memory, length, |start, lines| {
            let mut scratch = cx.scratch(self.plan.get_inplace_scratch_len())?;
            let mut line = start / length;
            let mut rest = lines;
            while !rest.is_empty() {
                // As many lines as are adjacent.
                let count = TOGETHER.min(inside - line % inside).min(rest.len() / length);
                let (block, after) = rest.split_at_mut(count * length);
                let first = line / inside * inside * length + line % inside;
                transposed_rows((&data[first..], inside), length, block);
                self.plan.process_with_scratch(block, &mut scratch);
                (line, rest) = (line + count, after);
            }
            Ok::<(), Error>(())
        })?;
        let memory: &[Complex<F>] = memory;
        cx.pool.for_chunks(cost, data, inside, |start, rows| {
            let (mut row, mut rest) = (start / inside, rows);
            while !rest.is_empty() {
                // Those of one matrix.
                let count = (length - row % length).min(rest.len() / inside);
                let (block, after) = rest.split_at_mut(count * inside);
                let lines = &memory[row / length * length * inside + row % length..];
                transposed_rows((lines, length), inside, block);
                (row, rest) = (row + count, after);
            }
        });
        Ok(())
    }
}
