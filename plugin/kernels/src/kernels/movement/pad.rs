//! Padding, also negative and between elements.

use std::ops::Range;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{ElementType, TensorType};
use smallvec::SmallVec;

use super::row_major;
use crate::by_width;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::machine::{Block, Copy, Slot};
use crate::pool::Cost;

/// A padded dimension.
#[derive(Debug, Clone, Copy)]
struct Dim {
    /// The sizes in operand and result.
    operand: usize,
    result: usize,
    /// The place of the operand's first element in the result.
    low: i64,
    /// The distance of the operand's elements in the result.
    step: i64,
    /// The distance of neighbours in the operand.
    pub stride: usize,
}

impl Dim {
    /// The operand's index at `index` of the result, if it is not padding.
    fn source(&self, index: usize) -> Option<usize> {
        let from_low = index as i64 - self.low;
        let inside = from_low >= 0 && from_low % self.step == 0;
        inside.then(|| (from_low / self.step) as usize).filter(|&source| source < self.operand)
    }

    /// The operand's indices that are in the result.
    fn sources(&self) -> Range<usize> {
        // The number of the operand's elements that lie before a place of the result.
        let before = |place: i64| ((place - self.low).max(0) as usize).div_ceil(self.step as usize);
        before(0)..before(self.result as i64).min(self.operand)
    }
}

/// A pad.
#[derive(Debug)]
pub(super) struct Pad {
    element: ElementType,
    /// The dimensions up to the last that is padded.
    dims: Vec<Dim>,
    /// The number of elements in the rest, which is copied as one.
    block: usize,
    count: usize,
}

impl Pad {
    pub(super) fn new(operand: &TensorType, result: &TensorType, low: &[i64], interior: &[i64]) -> Pad {
        let strides = row_major(&operand.dims);
        let mut dims: Vec<Dim> = (0..operand.rank())
            .map(|dim| Dim {
                operand: operand.dims[dim],
                result: result.dims[dim],
                low: low[dim],
                step: interior[dim] + 1,
                stride: strides[dim] as usize,
            })
            .collect();
        let unpadded = |dim: &Dim| dim.low == 0 && (dim.step == 1 || dim.operand < 2) && dim.operand == dim.result;
        let mut block = 1;
        while let Some(dim) = dims.pop_if(|dim| unpadded(dim)) {
            block *= dim.operand;
        }
        Pad { element: operand.element, dims, block, count: result.count() }
    }

    /// Fills `row`, the innermost padded dimension, with the elements of `operand` from `start` on; `None` means only
    /// padding.
    fn fill_row<T: Pod>(&self, dim: &Dim, operand: &[T], start: Option<usize>, padding: T, row: &mut [T]) {
        let Some(start) = start else { return row.fill(padding) };
        let Range { start: first, end } = dim.sources();
        if first >= end {
            return row.fill(padding);
        }
        let (block, step) = (self.block, dim.step as usize);
        let place = (dim.low + first as i64 * dim.step) as usize;
        let source = &operand[start + first * block..start + end * block];
        if step == 1 {
            let (before, rest) = row.split_at_mut(place * block);
            let (inside, after) = rest.split_at_mut(source.len());
            before.fill(padding);
            inside.copy_from_slice(source);
            return after.fill(padding);
        }
        row.fill(padding);
        if block == 1 {
            row[place..].iter_mut().step_by(step).zip(source).for_each(|(out, &x)| *out = x);
        } else {
            let blocks = row[place * block..].chunks_mut(block).step_by(step);
            blocks.zip(source.chunks_exact(block)).for_each(|(out, x)| out.copy_from_slice(x));
        }
    }

    /// The operand's element at each place of the result; `None` for padding.
    fn sources(&self) -> impl Iterator<Item = Option<usize>> {
        let places = 0..self.count;
        places.map(|place| {
            let start = self.row_start(&self.dims, place / self.block)?;
            Some(start + place % self.block)
        })
    }

    /// The start in the operand of row `row` of the result; `None` if it is all padding.
    fn row_start(&self, outer: &[Dim], mut row: usize) -> Option<usize> {
        let mut start = 0;
        for dim in outer.iter().rev() {
            start += dim.source(row % dim.result)? * dim.stride;
            row /= dim.result;
        }
        Some(start)
    }
}

impl Kernel for Pad {
    fn name(&self) -> String {
        "pad".into()
    }

    fn cost(&self) -> Cost {
        Cost { flops: 0.0, bytes: 2.0 * (self.count * self.element.byte_width()) as f64 }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let width = self.element.byte_width();
        if !block.fits(self.count) {
            return None;
        }
        if width == 4 && self.count <= 4 {
            let word = |source: Option<usize>| source.map_or((inputs[1], 0), |element| (inputs[0], element * width));
            return block.join_words(self.sources().map(word), outputs[0]);
        }
        // Neighbours that are copied together, and padding element by element.
        let (mut copies, mut padding): (SmallVec<[Copy; 4]>, SmallVec<[Copy; 4]>) = Default::default();
        for (place, source) in self.sources().enumerate() {
            let to = place * width;
            let Some(source) = source else {
                padding.push(Copy { from: 0, to, bytes: width, width });
                continue;
            };
            let from = source * width;
            match copies.last_mut() {
                Some(last) if (last.from + last.bytes, last.to + last.bytes) == (from, to) => last.bytes += width,
                _ => copies.push(Copy { from, to, bytes: width, width }),
            }
        }
        block.join(&[(inputs[0], copies), (inputs[1], padding)], outputs[0])
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        by_width!(self.element, T => {
            let (operand, padding) = (inputs.get::<T>(0), inputs.get::<T>(1)[0]);
            let result = outputs.take::<T>(0);
            match self.dims.split_last() {
                _ if result.is_empty() => {}
                None => result.copy_from_slice(operand),
                Some((inner, outer)) => {
                    let row = inner.result * self.block;
                    cx.pool.for_chunks(self.cost(), result, row, |first, chunk| {
                        for (i, line) in chunk.chunks_exact_mut(row).enumerate() {
                            let start = self.row_start(outer, first / row + i);
                            self.fill_row(inner, operand, start, padding, line);
                        }
                    });
                }
            }
        });
        Ok(())
    }
}
