//! Dynamic slices, and updates of slices.

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{ElementType, TensorType};
use oxcall_jit::Value;
use smallvec::SmallVec;

use super::row_major;
use super::strided::StridedCopy;
use crate::by_width;
use crate::element::Scalar;
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::kernels::nest::{self, Loop, Nest, Walk};
use crate::machine::{self, Block, Slot};
use crate::pool::Cost;

/// The start of a slice: its indices are the last operands.
#[derive(Debug)]
struct Start {
    /// The operand that is the first index.
    operand: usize,
    element: ElementType,
    /// For each dimension, the last index that is in bounds, and the distance of neighbours.
    dims: SmallVec<[(i64, isize); 4]>,
}

impl Start {
    fn new(operand: usize, index: Option<&TensorType>, dims: &[usize], sizes: &[usize]) -> Start {
        let last = dims.iter().zip(sizes).map(|(&dim, &size)| dim as i64 - size as i64);
        let element = index.map_or(ElementType::S32, |index| index.element);
        Start { operand, element, dims: last.zip(row_major(dims)).collect() }
    }

    /// The place of the slice's first element, moved so that the whole slice is in bounds.
    fn place(&self, inputs: Inputs<'_>) -> isize {
        let indices = self.dims.iter().enumerate().map(|(dim, &(last, stride))| {
            let index = Scalar::from_bytes(inputs.get::<u8>(self.operand + dim)).integer(self.element);
            index.clamp(0, last.max(0).into()) as isize * stride
        });
        indices.sum()
    }

    /// The distance of that element from the first, in bytes, in a block of machine code.
    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], width: usize) -> Option<Option<Value>> {
        let element = self.element;
        let starts = self.dims.iter().zip(&inputs[self.operand..]);
        block.start(starts.map(|(&(last, stride), &slot)| machine::Start {
            slot,
            offset: 0,
            element,
            last,
            stride: stride as usize * width,
        }))
    }
}

/// A slice of static size.
#[derive(Debug)]
pub(super) struct DynamicSlice {
    start: Start,
    copy: StridedCopy,
}

impl DynamicSlice {
    pub(super) fn new(operand: &TensorType, index: Option<&TensorType>, sizes: &[usize]) -> DynamicSlice {
        let width = operand.element.byte_width();
        let copy = StridedCopy::from_anywhere("dynamic_slice", width, sizes, row_major(&operand.dims));
        DynamicSlice { start: Start::new(1, index, &operand.dims, sizes), copy }
    }
}

impl Kernel for DynamicSlice {
    fn name(&self) -> String {
        self.copy.name()
    }

    fn cost(&self) -> Cost {
        self.copy.cost()
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let start = self.start.generate(block, inputs, self.copy.width())?;
        self.copy.generate_from(start, block, inputs, outputs)
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, outputs: Outputs<'_>) -> Result<(), Error> {
        self.copy.run_from(self.start.place(inputs), cx, inputs, outputs);
        Ok(())
    }
}

/// An operand with a part replaced.
#[derive(Debug)]
pub(super) struct DynamicUpdateSlice {
    element: ElementType,
    start: Start,
    /// Over the update: strides in the result, and in the update.
    loops: Nest<2>,
    count: usize,
    /// Elements of the operand.
    all: usize,
}

impl DynamicUpdateSlice {
    pub(super) fn new(operand: &TensorType, update: &TensorType, index: Option<&TensorType>) -> DynamicUpdateSlice {
        let strides = row_major(&operand.dims).into_iter().zip(row_major(&update.dims));
        let loops = update.dims.iter().zip(strides).map(|(&size, (to, from))| Loop { size, strides: [to, from] });
        DynamicUpdateSlice {
            element: operand.element,
            start: Start::new(2, index, &operand.dims, &update.dims),
            loops: nest::collapse(loops),
            count: update.count(),
            all: operand.count(),
        }
    }

    fn write<T: Pod>(&self, place: isize, update: &[T], result: &mut [T]) {
        let Some((inner, outer)) = self.loops.split_last() else {
            result[place as usize] = update[0];
            return;
        };
        let mut walk = Walk::new(outer, [place, 0], 0);
        for _ in 0..nest::iterations(outer) {
            let [to, from] = walk.step().map(|offset| offset as usize);
            let from = &update[from..][..inner.size];
            match inner.strides[0] {
                1 => result[to..][..inner.size].copy_from_slice(from),
                stride => {
                    let to = result[to..].iter_mut().step_by(stride as usize);
                    to.zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }
}

impl Kernel for DynamicUpdateSlice {
    fn name(&self) -> String {
        "dynamic_update_slice".into()
    }

    /// The cost of the update alone: in loops the operand is nearly always in place.
    fn cost(&self) -> Cost {
        Cost { flops: 0.0, bytes: 2.0 * (self.count * self.element.byte_width()) as f64 }
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let width = self.element.byte_width();
        if inputs[0] != outputs[0] || self.count == 0 || !block.fits(self.count) {
            return None;
        }
        let start = self.start.generate(block, inputs, width)?;
        block.copy((inputs[1], None), (outputs[0], start), &window_copies(&self.loops, width))
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let place = self.start.place(inputs);
        by_width!(self.element, T => {
            let result = outputs.take::<T>(0);
            if !inputs.is_in_place(0) {
                let operand = inputs.get::<T>(0);
                let cost = Cost { flops: 0.0, bytes: 2.0 * (self.all * size_of::<T>()) as f64 };
                cx.pool.for_chunks(cost, result, 4096, |first, chunk| {
                    chunk.copy_from_slice(&operand[first..][..chunk.len()]);
                });
            }
            if self.count > 0 {
                self.write::<T>(place, inputs.get(1), result);
            }
        });
        Ok(())
    }
}

/// The copies of a window's rows, for machine code. `loops` has the strides in the result and in the update, `width` is
/// the size of an element.
pub(crate) fn window_copies(loops: &Nest<2>, width: usize) -> Vec<machine::Copy> {
    let (rows, row) = match loops.split_last() {
        Some((inner, outer)) if inner.strides == [1, 1] => (outer, inner.size),
        _ => (&loops[..], 1),
    };
    let mut walk = Walk::new(rows, [0, 0], 0);
    let copy = |_| {
        let [to, from] = walk.step().map(|place| place as usize * width);
        machine::Copy { from, to, bytes: row * width, width }
    };
    (0..nest::iterations(rows)).map(copy).collect()
}
