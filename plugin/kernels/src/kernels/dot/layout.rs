//! Contractions' dimension numbers as batches of matrices.

use oxcall::Error;
use oxcall_hlo::DotDims;

use super::Number;
use super::matmul::Mat;
use crate::kernel::Context;
use crate::memory::Scratch;

/// A dimension: its size, and the distance of its elements.
pub(in crate::kernels) type Dim = (usize, usize);

/// An operand as a matrix: its free dimensions by its contracted ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Side {
    /// The product of the free dimensions.
    pub(super) free: usize,
    /// The product of the contracted dimensions.
    pub(super) contracted: usize,
    free_stride: usize,
    contracted_stride: usize,
    /// The dimensions in the order of the copy, if the elements have to be copied first.
    copied: Option<Vec<Dim>>,
}

impl Side {
    /// The elements as the strides expect them, copied if needed into `memory`.
    pub(super) fn arrange<'a, C: Number>(
        &self,
        cx: Context<'_>,
        elements: &'a [C],
        memory: &'a mut Scratch<C>,
    ) -> Result<&'a [C], Error> {
        // An empty operand has no elements at any stride.
        let Some(dims) = self.copied.as_ref().filter(|_| !elements.is_empty()) else { return Ok(elements) };
        *memory = cx.scratch(elements.len())?;
        gather(elements, dims, memory);
        Ok(memory)
    }

    /// The distance of lines that are dense in the operand itself, and whether they are columns.
    pub(super) fn lines(&self) -> Option<(usize, bool)> {
        match self.copied {
            None if self.contracted_stride == 1 => Some((self.free_stride, false)),
            None if self.free_stride == 1 => Some((self.contracted_stride, true)),
            _ => None,
        }
    }

    /// The distances of free and of contracted elements in the operand itself; `None` if it is copied first.
    pub(super) fn strides(&self) -> Option<[usize; 2]> {
        self.copied.is_none().then_some([self.free_stride, self.contracted_stride])
    }

    /// The distance of rows.
    pub(super) fn free_stride(&self) -> usize {
        self.free_stride
    }

    /// The distances of free and of contracted elements.
    pub(super) fn distances(&self) -> [usize; 2] {
        [self.free_stride, self.contracted_stride]
    }

    /// The matrix of free rows and contracted columns at `offset`.
    pub(super) fn matrix<'a, C: Number>(&self, elements: &'a [C], offset: usize) -> Mat<'a, C> {
        Mat::new(&elements[offset..], [self.free, self.contracted], [self.free_stride, self.contracted_stride])
    }
}

/// Copies the elements of the strided array `dims` to `out`, which has as many.
fn gather<C: Copy>(elements: &[C], dims: &[Dim], out: &mut [C]) {
    match dims {
        _ if out.is_empty() => {}
        [] => out[0] = elements[0],
        [(size, 1)] => out.copy_from_slice(&elements[..*size]),
        [(_, stride)] => out.iter_mut().enumerate().for_each(|(i, out)| *out = elements[i * stride]),
        [(size, stride), rest @ ..] => {
            let len = out.len() / size;
            out.chunks_exact_mut(len).enumerate().for_each(|(i, out)| gather(&elements[i * stride..], rest, out));
        }
    }
}

/// The batch dimensions: the size of each, and its strides in both operands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Batches(Vec<(usize, [usize; 2])>);

impl Batches {
    /// The number of batches.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|(size, _)| size).product()
    }

    /// The distance of batches in each operand, if it is always the same.
    pub(super) fn distances(&self) -> Option<[usize; 2]> {
        match self.0[..] {
            [] => Some([0; 2]),
            [(_, strides)] => Some(strides),
            _ => None,
        }
    }

    /// The start of batch `index` in each operand.
    pub(super) fn offsets(&self, mut index: usize) -> [usize; 2] {
        let mut offsets = [0, 0];
        for (size, strides) in self.0.iter().rev() {
            let at = index % size;
            index /= size;
            offsets = [offsets[0] + at * strides[0], offsets[1] + at * strides[1]];
        }
        offsets
    }
}

/// Both operands as matrices, and the batches.
pub(super) fn sides(dims: &DotDims, lhs: &[usize], rhs: &[usize]) -> (Side, Side, Batches) {
    let [lhs_strides, rhs_strides] = [strides(lhs), strides(rhs)];
    let pick = |which: &[usize], sizes: &[usize], strides: &[usize]| -> Vec<Dim> {
        which.iter().map(|&dim| (sizes[dim], strides[dim])).collect()
    };
    let free = |rank: usize, batching: &[usize], contracting: &[usize]| -> Vec<usize> {
        (0..rank).filter(|dim| !batching.contains(dim) && !contracting.contains(dim)).collect()
    };
    let lhs_free = pick(&free(lhs.len(), &dims.lhs_batching, &dims.lhs_contracting), lhs, &lhs_strides);
    let rhs_free = pick(&free(rhs.len(), &dims.rhs_batching, &dims.rhs_contracting), rhs, &rhs_strides);
    let lhs_batch = pick(&dims.lhs_batching, lhs, &lhs_strides);
    let rhs_batch = pick(&dims.rhs_batching, rhs, &rhs_strides);
    let contracted: Vec<[Dim; 2]> = pick(&dims.lhs_contracting, lhs, &lhs_strides)
        .into_iter()
        .zip(pick(&dims.rhs_contracting, rhs, &rhs_strides))
        .map(<[Dim; 2]>::from)
        .collect();

    // The order of the contracted dimensions is arbitrary, but must be the same in both operands: take that of the
    // operand which leaves less to copy.
    let (lhs, rhs) = [0, 1]
        .map(|side: usize| {
            let mut order = contracted.clone();
            order.sort_by_key(|dims| std::cmp::Reverse(dims[side].1));
            let of = |side: usize| order.iter().map(|dims| dims[side]).collect::<Vec<Dim>>();
            (Group::new(&lhs_batch, &lhs_free, &of(0)), Group::new(&rhs_batch, &rhs_free, &of(1)))
        })
        .into_iter()
        .min_by_key(|(lhs, rhs)| lhs.elements_to_copy() + rhs.elements_to_copy())
        .expect("there are two");
    let (lhs, lhs_batch) = lhs.side(Order::FreeFirst);
    let (rhs, rhs_batch) = rhs.side(Order::ContractedFirst);
    let batch = lhs_batch.iter().zip(&rhs_batch).map(|(lhs, rhs)| (lhs.0, [lhs.1, rhs.1]));
    (lhs, rhs, Batches(merge_batches(batch)))
}

/// The dimensions of an operand by their role.
struct Group<'a> {
    batch: &'a [Dim],
    free: &'a [Dim],
    contracted: Vec<Dim>,
}

/// The outer matrix dimension of a copy.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    FreeFirst,
    ContractedFirst,
}

impl<'a> Group<'a> {
    fn new(batch: &'a [Dim], free: &'a [Dim], contracted: &[Dim]) -> Group<'a> {
        Group { batch, free, contracted: contracted.to_vec() } // Bounded: dimensions.
    }

    fn elements_to_copy(&self) -> usize {
        let direct = merge(self.free).is_some() && merge(&self.contracted).is_some();
        if direct { 0 } else { [self.batch, self.free, &self.contracted].map(count).iter().product() }
    }

    /// The operand as a matrix, and its batch dimensions.
    fn side(&self, order: Order) -> (Side, Vec<Dim>) {
        let (free, contracted) = (count(self.free), count(&self.contracted));
        if let (Some(free_stride), Some(contracted_stride)) = (merge(self.free), merge(&self.contracted)) {
            return (Side { free, contracted, free_stride, contracted_stride, copied: None }, self.batch.to_vec()); // Bounded: dimensions.
        }
        let ((free_stride, contracted_stride), [outer, inner]) = match order {
            Order::FreeFirst => ((contracted, 1), [self.free, &self.contracted]),
            Order::ContractedFirst => ((1, free), [&self.contracted[..], self.free]),
        };
        let copied = Some([self.batch, outer, inner].concat());
        let sizes: Vec<usize> = self.batch.iter().map(|dim| dim.0).collect();
        let batch = sizes.iter().zip(strides(&sizes)).map(|(&size, stride)| (size, stride * free * contracted));
        (Side { free, contracted, free_stride, contracted_stride, copied }, batch.collect())
    }
}

/// The strides of a dense, row-major array.
fn strides(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()]; // Bounded: dimensions.
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    strides
}

fn count(dims: &[Dim]) -> usize {
    dims.iter().map(|dim| dim.0).product()
}

/// The stride of a single dimension that replaces all `dims`, if there is one.
pub(in crate::kernels) fn merge(dims: &[Dim]) -> Option<usize> {
    let mut dims = dims.iter().filter(|dim| dim.0 != 1).rev();
    let Some(&(size, stride)) = dims.next() else { return Some(1) };
    let mut next = size * stride;
    for dim in dims {
        if dim.1 != next {
            return None;
        }
        next *= dim.0;
    }
    Some(stride)
}

/// Merges neighbours that form one dimension in both operands.
fn merge_batches(dims: impl Iterator<Item = (usize, [usize; 2])>) -> Vec<(usize, [usize; 2])> {
    let mut merged: Vec<(usize, [usize; 2])> = Vec::new();
    for (size, strides) in dims.filter(|dim| dim.0 != 1) {
        match merged.last_mut() {
            Some(last) if last.1 == strides.map(|stride| stride * size) => *last = (last.0 * size, strides),
            _ => merged.push((size, strides)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::Allocator;
    use crate::pool::Pool;

    fn dims(lhs: (&[usize], &[usize]), rhs: (&[usize], &[usize])) -> DotDims {
        DotDims {
            lhs_batching: lhs.0.to_vec(),
            rhs_batching: rhs.0.to_vec(),
            lhs_contracting: lhs.1.to_vec(),
            rhs_contracting: rhs.1.to_vec(),
            precision: Vec::new(),
            algorithm: None,
        }
    }

    #[test]
    fn transposes_are_strides() {
        let (lhs, rhs, batches) = sides(&dims((&[], &[0]), (&[], &[1])), &[3, 4], &[5, 3]);
        assert_eq!((lhs.free, lhs.contracted, lhs.free_stride, lhs.contracted_stride), (4, 3, 1, 4));
        assert_eq!((rhs.free, rhs.contracted, rhs.free_stride, rhs.contracted_stride), (5, 3, 3, 1));
        assert_eq!((lhs.copied, rhs.copied, batches.count()), (None, None, 1));
    }

    #[test]
    fn attention_needs_no_copies() {
        // [batch, position, head, feature], contracted over features.
        let (lhs, rhs, batches) = sides(&dims((&[0, 2], &[3]), (&[0, 2], &[3])), &[2, 8, 4, 16], &[2, 9, 4, 16]);
        assert_eq!((lhs.copied.is_none(), rhs.copied.is_none(), lhs.free_stride), (true, true, 64));
        assert_eq!((batches.count(), batches.offsets(5)), (8, [8 * 64 + 16, 9 * 64 + 16]));
    }

    #[test]
    fn what_strides_cannot_say_is_copied() {
        // The free dimensions of the left operand are around its contracted one.
        let (lhs, rhs, _) = sides(&dims((&[], &[1]), (&[], &[0])), &[2, 3, 4], &[3, 5]);
        assert_eq!(rhs.copied, None);
        let (pool, allocator) = (Pool::new(1), Arc::new(Allocator::new()));
        let cx = Context { pool: &pool, memory: &allocator, era: crate::interrupt::Era::now() };
        let mut memory = Scratch::empty();
        let elements: Vec<i32> = (0..24).collect();
        let copy = lhs.arrange(cx, &elements, &mut memory).unwrap();
        assert_eq!(copy[..6], [0, 4, 8, 1, 5, 9]);
    }

    #[test]
    fn contracted_dimensions_take_the_order_of_memory() {
        let (lhs, rhs, _) = sides(&dims((&[], &[1, 0]), (&[], &[1, 0])), &[2, 3, 4], &[2, 3, 5]);
        assert_eq!((lhs.copied, rhs.copied, lhs.contracted_stride), (None, None, 4));
    }
}
