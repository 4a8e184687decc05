//! Gather.

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{ElementType, Func, GatherDims, Op};
use oxcall_jit::Width;

use super::starts::{BLOCK, IndexDims, MOST_STARTS, OutOfBounds, Starts};
use crate::by_width;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::movement::{copy_rows, row_major, window_copies};
use crate::kernels::nest::{self, Loop, Nest, Walk};
use crate::kernels::tensors;
use crate::machine::{Block, Copy, Slot, Window};
use crate::pool::Cost;

/// Gathers slices of an operand by indices.
#[derive(Debug)]
struct Gather {
    element: ElementType,
    starts: Starts,
    shape: Shape,
    count: usize,
}

/// The arrangement of slices in the result.
#[derive(Debug)]
enum Shape {
    /// One slice after another.
    Rows {
        /// The loops over a slice, with strides in the operand.
        slice: Nest<1>,
        /// The number of elements in it.
        len: usize,
    },
    /// Dimensions of slices and of indices mixed: strides in the starts, and in the operand.
    Mixed(Nest<2>),
}

pub(super) fn make(op: &Op, func: &Func, dims: &GatherDims, sizes: &[usize]) -> Result<Box<dyn Kernel>, Error> {
    let [operand, indices, result] = tensors(op, func)?;
    let index_dims = IndexDims {
        operand_batching: &dims.operand_batching_dims,
        indices_batching: &dims.start_indices_batching_dims,
        component_dims: &dims.start_index_map,
        vector_dim: dims.index_vector_dim,
    };
    let starts = Starts::new(operand, indices, &index_dims, sizes, OutOfBounds::Clamp);
    let strides = row_major(&operand.dims);
    let kept = |dim: &usize| !dims.collapsed_slice_dims.contains(dim) && !dims.operand_batching_dims.contains(dim);
    let slice_strides: Vec<isize> = (0..operand.rank()).filter(kept).map(|dim| strides[dim]).collect();
    // Index vectors are in row-major order of the dimensions that do not come from slices.
    let mut loops: Nest<2> = result.dims.iter().map(|&size| Loop { size, strides: [0, 0] }).collect();
    dims.offset_dims.iter().zip(slice_strides).for_each(|(&dim, stride)| loops[dim].strides[1] = stride);
    let mut vector = 1;
    for (_, each) in loops.iter_mut().enumerate().rev().filter(|(dim, _)| !dims.offset_dims.contains(dim)) {
        each.strides[0] = vector;
        vector *= each.size as isize;
    }
    let loops = nest::collapse(loops);
    let vectors = loops.iter().take_while(|each| each.strides[0] != 0).count();
    let shape = if loops[vectors..].iter().all(|each| each.strides[0] == 0) {
        let slice = loops[vectors..].iter().map(|each| Loop { size: each.size, strides: [each.strides[1]] });
        let slice: Nest<1> = slice.collect();
        Shape::Rows { len: nest::iterations(&slice), slice }
    } else {
        Shape::Mixed(loops)
    };
    Ok(Box::new(Gather { element: result.element, starts, shape, count: result.count() }))
}

impl Gather {
    fn gather<T: Pod + Send + Sync>(&self, cx: Context<'_>, inputs: Inputs<'_>, result: &mut [T]) -> Result<(), Error> {
        let operand = inputs.get::<T>(0);
        match &self.shape {
            Shape::Rows { slice, len } => cx.pool.for_chunks(self.cost(), result, *len, |first, chunk| {
                let mut starts = [0; BLOCK];
                for (block, rows) in chunk.chunks_mut(BLOCK * len).enumerate() {
                    let starts = &mut starts[..rows.len() / len];
                    self.starts.fill(inputs, 1, first / len + block * BLOCK, starts);
                    copy_slices(operand, starts, slice, *len, rows);
                }
            }),
            Shape::Mixed(loops) => {
                let mut starts = cx.scratch(self.starts.count())?;
                cx.pool.for_chunks(self.cost(), &mut starts, 1, |first, chunk| {
                    self.starts.fill(inputs, 1, first, chunk);
                });
                let (inner, outer) = loops.split_last().expect("two kinds of loops");
                cx.pool.for_chunks(self.cost(), result, inner.size, |first, chunk| {
                    let mut walk = Walk::new(outer, [0, 0], first / inner.size);
                    for row in chunk.chunks_exact_mut(inner.size) {
                        let [vector, offset] = walk.step().map(|offset| offset as usize);
                        if inner.strides[0] == 1 {
                            // Columns: a step between starts would take as long as the rest.
                            let (from, starts) = (&operand[offset..], &starts[vector..][..inner.size]);
                            row.iter_mut().zip(starts).for_each(|(to, start)| *to = from[*start]);
                        } else if inner.strides[0] == 0 {
                            let from = operand[starts[vector] + offset..].iter().step_by(inner.strides[1] as usize);
                            row.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                        } else {
                            let starts = starts[vector..].iter().step_by(inner.strides[0] as usize);
                            row.iter_mut().zip(starts).for_each(|(to, start)| *to = operand[start + offset]);
                        }
                    }
                });
            }
        }
        Ok(())
    }

    /// The copies of slice `index` for machine code, from its first element.
    fn copies(&self, index: usize, width: usize) -> Vec<Copy> {
        match &self.shape {
            Shape::Rows { slice, len } => {
                let mut to = row_major(&slice.iter().map(|each| each.size).collect::<Vec<_>>()).into_iter();
                let loops: Nest<2> = (slice.iter().zip(&mut to))
                    .map(|(each, to)| Loop { size: each.size, strides: [to, each.strides[0]] })
                    .collect();
                let copies = window_copies(&loops, width).into_iter();
                copies.map(|copy| Copy { to: copy.to + index * len * width, ..copy }).collect()
            }
            Shape::Mixed(loops) => {
                let mut walk = Walk::new(loops, [0, 0], 0);
                let elements = (0..self.count).map(|to| (to, walk.step()));
                let of_slice = elements.filter(|(_, [slice, _])| *slice as usize == index);
                let copy = |(to, [_, from]): (usize, [isize; 2])| Copy {
                    from: from as usize * width,
                    to: to * width,
                    bytes: width,
                    width,
                };
                of_slice.map(copy).collect()
            }
        }
    }
}

/// Copies the slices at `starts` to `rows`, one after another.
fn copy_slices<T: Pod>(operand: &[T], starts: &[usize], slice: &[Loop<1>], len: usize, rows: &mut [T]) {
    match slice {
        [] => rows.iter_mut().zip(starts).for_each(|(to, &start)| *to = operand[start]),
        [Loop { strides: [1], .. }] => copy_rows(operand, starts.iter().copied(), rows, len),
        [outer @ .., inner] => rows.chunks_exact_mut(len).zip(starts).for_each(|(row, &start)| {
            let mut walk = Walk::new(outer, [start as isize], 0);
            for line in row.chunks_exact_mut(inner.size) {
                let from = operand[walk.step()[0] as usize..].iter().step_by(inner.strides[0] as usize);
                line.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }),
    }
}

impl Kernel for Gather {
    fn name(&self) -> String {
        "gather".into()
    }

    fn cost(&self) -> Cost {
        let vectors = self.starts.count() as f64;
        let bytes = 2.0 * (self.count * self.element.byte_width()) as f64;
        Cost { flops: self.starts.flops(), bytes: bytes + 8.0 * vectors }
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let width = self.element.byte_width();
        if self.count == 0 || !block.fits(self.count) {
            return None;
        }
        if self.starts.count() > MOST_STARTS {
            let is_single = self.starts.count() == self.count && width == Width::Word.bytes();
            let (element, last) = self.starts.line().filter(|_| is_single)?;
            return block.pick((inputs[0], last), (inputs[1], element), outputs[0], self.count);
        }
        let slices = self.starts.for_code(inputs[1], width).enumerate().map(|(index, (batching, components))| {
            let start = block.start(components.into_iter())?;
            let copy = |copy: Copy| Copy { from: copy.from + batching, ..copy };
            Some(Window { start, mask: None, copies: self.copies(index, width).into_iter().map(copy).collect() })
        });
        let slices = slices.collect::<Option<Vec<_>>>()?;
        block.gather(inputs[0], outputs[0], &slices)
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        if self.count > 0 {
            by_width!(self.element, T => self.gather::<T>(cx, inputs, outputs.take(0))?);
        }
        Ok(())
    }
}
