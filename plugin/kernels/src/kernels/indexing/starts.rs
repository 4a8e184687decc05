//! Start indices of the slices of a gather and of the windows of a scatter.

use bytemuck::Pod;
use oxcall_hlo::{ElementType, TensorType};
use smallvec::SmallVec;

use crate::kernel::Inputs;
use crate::kernels::movement::row_major;
use crate::kernels::nest::{self, Loop, Nest, Walk};
use crate::machine::{Slot, Start};
use crate::math::level::vectorised;

/// The start of a window that is out of bounds.
pub(super) const NOWHERE: usize = usize::MAX;

/// The most slices or windows that machine code takes.
pub(super) const MOST_STARTS: usize = 16;

/// The number of starts that are computed at a time.
pub(super) const BLOCK: usize = 256;

/// The treatment of a slice that is partly out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutOfBounds {
    /// It is moved inside: gather.
    Clamp,
    /// It is dropped as a whole: scatter. (The specification drops single elements; XLA, and JAX's documentation of its
    /// scatter modes, drop whole windows.)
    Drop,
}

/// The dimension numbers that gather and scatter share.
pub(super) struct IndexDims<'a> {
    /// Batching dimensions of the operand, and of the indices.
    pub(super) operand_batching: &'a [usize],
    pub(super) indices_batching: &'a [usize],
    /// For each component of an index vector, the dimension of the operand that it indexes.
    pub(super) component_dims: &'a [usize],
    /// The dimension of the indices that holds index vectors.
    pub(super) vector_dim: usize,
}

/// One component of index vectors.
#[derive(Debug, Clone, Copy)]
struct Component {
    /// Where it is in an index vector.
    offset: isize,
    /// The largest index that is in bounds.
    limit: i64,
    /// The distance of neighbours along its dimension of the operand.
    stride: usize,
}

/// The place of an element for each index vector, in row-major order of the other dimensions of the indices.
#[derive(Debug)]
pub(super) struct Starts {
    element: ElementType,
    /// Over index vectors: strides in the indices, and in the operand for batching dimensions.
    vectors: Nest<2>,
    components: SmallVec<[Component; 2]>,
    out_of_bounds: OutOfBounds,
    count: usize,
    /// The arithmetic operations that take as long as finding a start and going there.
    each: f64,
}

/// Operands of up to this many bytes are in a cache near the processor.
const NEAR: usize = 1 << 20;

impl Starts {
    /// The starts of slices of `sizes`, one for each dimension of the operand.
    pub(super) fn new(
        operand: &TensorType,
        indices: &TensorType,
        dims: &IndexDims<'_>,
        sizes: &[usize],
        out_of_bounds: OutOfBounds,
    ) -> Starts {
        let (strides, index_strides) = (row_major(&operand.dims), row_major(&indices.dims));
        let of_batching = |dim: usize| {
            let position = dims.indices_batching.iter().position(|&batching| batching == dim);
            position.map_or(0, |position| strides[dims.operand_batching[position]])
        };
        let vectors = (0..indices.rank())
            .filter(|&dim| dim != dims.vector_dim)
            .map(|dim| Loop { size: indices.dims[dim], strides: [index_strides[dim], of_batching(dim)] });
        let vectors: Nest<2> = vectors.collect();
        let vector_stride = index_strides.get(dims.vector_dim).copied().unwrap_or(0);
        let component = |(position, &dim): (usize, &usize)| Component {
            offset: position as isize * vector_stride,
            limit: operand.dims[dim] as i64 - sizes[dim] as i64,
            stride: strides[dim] as usize,
        };
        // A start far away costs about a cache miss.
        let is_near = operand.byte_size() <= NEAR;
        let each = if is_near { 2.0 + 4.0 * dims.component_dims.len() as f64 } else { 20.0 };
        Starts {
            element: indices.element,
            each,
            count: nest::iterations(&vectors),
            vectors: nest::collapse(vectors),
            components: dims.component_dims.iter().enumerate().map(component).collect(),
            out_of_bounds,
        }
    }

    /// The arithmetic operations that take as long as going to all starts.
    pub(super) fn flops(&self) -> f64 {
        self.each * self.count as f64
    }

    /// The number of index vectors.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// For machine code, the type of the indices and the largest one in bounds, if each index vector is one number,
    /// they lie side by side, and they count elements.
    pub(super) fn line(&self) -> Option<(ElementType, i64)> {
        match (&self.vectors[..], &self.components[..]) {
            ([Loop { strides: [1, 0], .. }], &[Component { limit, stride: 1, .. }]) => Some((self.element, limit)),
            _ => None,
        }
    }

    /// For machine code, the components of each index vector, which are in `slot`, and the distance in bytes to which
    /// batching dimensions lead; elements have `width` bytes.
    pub(super) fn for_code(&self, slot: Slot, width: usize) -> impl Iterator<Item = (usize, SmallVec<[Start; 2]>)> {
        let mut walk = Walk::new(&self.vectors, [0, 0], 0);
        (0..self.count).map(move |_| {
            let [vector, batching] = walk.step();
            let components = self.components.iter().map(|component| Start {
                slot,
                offset: (vector + component.offset) as usize * self.element.byte_width(),
                element: self.element,
                last: component.limit,
                stride: component.stride * width,
            });
            (batching as usize * width, components.collect())
        })
    }

    /// Writes the starts of vectors `first..`, from the indices at operand `operand`.
    pub(super) fn fill(&self, inputs: Inputs<'_>, operand: usize, first: usize, out: &mut [usize]) {
        match self.element {
            ElementType::S64 => self.fill_from(inputs.get::<i64>(operand), first, out),
            ElementType::S32 => self.fill_from(inputs.get::<i32>(operand), first, out),
            ElementType::S16 => self.fill_from(inputs.get::<i16>(operand), first, out),
            ElementType::U64 => self.fill_from(inputs.get::<u64>(operand), first, out),
            ElementType::U32 => self.fill_from(inputs.get::<u32>(operand), first, out),
            ElementType::U16 => self.fill_from(inputs.get::<u16>(operand), first, out),
            element if element.is_signed() => self.fill_from(inputs.get::<i8>(operand), first, out),
            _ => self.fill_from(inputs.get::<u8>(operand), first, out),
        }
    }

    fn fill_from<I: Index>(&self, indices: &[I], first: usize, out: &mut [usize]) {
        if out.is_empty() {
            return;
        }
        if let ([Loop { strides: [step, 0], .. }], [component]) = (&self.vectors[..], &self.components[..])
            && component.limit >= 0
        {
            let (step, drop) = (*step as usize, self.out_of_bounds == OutOfBounds::Drop);
            let (indices, last) = (&indices[first * step..], I::from_limit(component.limit));
            match step {
                1 => fill_line(&indices[..out.len()], last, component.stride, drop, out),
                _ => out.iter_mut().zip(indices.iter().step_by(step)).for_each(|(start, index)| {
                    *start = index.start(last, component.stride, drop);
                }),
            }
            return;
        }
        // One component after the other, of index vectors at even distances.
        if let [Loop { strides: [step, batching], .. }] = self.vectors[..]
            && self.components.iter().all(|component| component.limit >= 0)
        {
            let (step, batching) = (step as usize, batching as usize);
            out.iter_mut().zip(first..).for_each(|(start, index)| *start = index * batching);
            let drop = self.out_of_bounds == OutOfBounds::Drop;
            for &Component { offset, limit, stride } in &self.components {
                let indices = &indices[first * step + offset as usize..];
                add_starts(indices, step, (I::from_limit(limit), stride, drop), out);
            }
            return;
        }
        let mut walk = Walk::new(&self.vectors, [0, 0], first);
        for start in out {
            let [vector, batching] = walk.step();
            *start = batching as usize;
            for component in &self.components {
                let index = indices[(vector + component.offset) as usize].to_i64();
                let clamped = index.clamp(0, component.limit.max(0));
                if clamped != index && self.out_of_bounds == OutOfBounds::Drop || component.limit < 0 {
                    *start = NOWHERE;
                    break;
                }
                *start += clamped as usize * component.stride;
            }
        }
    }
}

vectorised! {
    /// The starts of indices that lie side by side, in vectors of them.
    fn fill_line<I: Index>(indices: &[I], last: I, stride: usize, drop: bool, out: &mut [usize]) {
        let lines = out.iter_mut().zip(indices);
        match (stride, drop) {
            (1, false) => lines.for_each(|(start, index)| *start = index.start(last, 1, false)),
            (1, true) => lines.for_each(|(start, index)| *start = index.start(last, 1, true)),
            (_, false) => lines.for_each(|(start, index)| *start = index.start(last, stride, false)),
            (_, true) => lines.for_each(|(start, index)| *start = index.start(last, stride, true)),
        }
    }
}

/// Adds the starts of every `step`th index to others; what is nowhere stays there.
fn add_starts<I: Index>(indices: &[I], step: usize, (last, stride, drop): (I, usize, bool), out: &mut [usize]) {
    let add = |start: &mut usize, index: I| *start = start.saturating_add(index.start(last, stride, drop));
    match step {
        1 => out.iter_mut().zip(indices).for_each(|(start, &index)| add(start, index)),
        // The last index vector may lack what is behind its component.
        2 => out.iter_mut().zip(indices.chunks(2)).for_each(|(start, pair)| add(start, pair[0])),
        _ => out.iter_mut().zip(indices.iter().step_by(step)).for_each(|(start, &index)| add(start, index)),
    }
}

/// An integer type of indices.
trait Index: Pod {
    /// The index; one that does not fit is far out of bounds anyway.
    fn to_i64(self) -> i64;
    /// The largest index up to `limit`, which is not negative.
    fn from_limit(limit: i64) -> Self;
    /// The start for a component with indices up to `last`. Comparisons are those of this type, so that a vector has as
    /// many of them as it has indices.
    fn start(self, last: Self, stride: usize, drop: bool) -> usize;
}

macro_rules! indices {
    ($($ty:ty),*) => {$(
        impl Index for $ty {
            #[inline(always)]
            fn to_i64(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }

            fn from_limit(limit: i64) -> $ty {
                <$ty>::try_from(limit).unwrap_or(<$ty>::MAX)
            }

            #[inline(always)]
            fn start(self, last: $ty, stride: usize, drop: bool) -> usize {
                let clamped = self.clamp(0, last);
                if drop && clamped != self { NOWHERE } else { (clamped as usize).wrapping_mul(stride) }
            }
        }
    )*};
}

indices!(i8, i16, i32, i64, u8, u16, u32, u64);
