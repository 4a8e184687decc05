//! Strided access of a tile to the elements of an operand.

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::TensorType;
use smallvec::SmallVec;

/// A map from each element of a domain, in row-major order, to an element of an operand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    /// The sizes of the domain's dimensions: none is 1, and adjacent ones are merged where strides allow it.
    dims: SmallVec<[usize; 4]>,
    /// The stride of each dimension in the operand, in elements; 0 repeats.
    strides: SmallVec<[usize; 4]>,
}

impl Access {
    /// The access to an operand for which dimension `i` of the domain has stride `strides[i]`.
    pub(crate) fn new(dims: &[usize], strides: &[usize]) -> Access {
        let mut access = Access { dims: SmallVec::new(), strides: SmallVec::new() };
        for (&dim, &stride) in dims.iter().zip(strides).filter(|&(&dim, _)| dim != 1) {
            match (access.dims.last_mut(), access.strides.last_mut()) {
                (Some(last_dim), Some(last_stride)) if *last_stride == stride * dim => {
                    *last_dim *= dim;
                    *last_stride = stride;
                }
                _ => {
                    access.dims.push(dim);
                    access.strides.push(stride);
                }
            }
        }
        access
    }

    /// The access of a `broadcast_in_dim` from `operand` to `result`, where `dims[i]` is the place of dimension `i`.
    pub(crate) fn broadcast(operand: &[usize], result: &[usize], dims: &[usize]) -> Access {
        let mut strides: SmallVec<[usize; 4]> = smallvec::smallvec![0; result.len()];
        let mut stride = 1;
        for (&size, &dim) in operand.iter().zip(dims).rev() {
            if size != 1 {
                strides[dim] = stride;
            }
            stride *= size;
        }
        Access::new(result, &strides)
    }

    /// The access to an operand with one element for each of `rows` rows.
    pub(crate) fn rows(rows: usize, row: usize) -> Access {
        Access::new(&[rows, row], &[1, 0])
    }

    /// The access to an operand of the result's shape, or to a scalar.
    ///
    /// # Errors
    /// INTERNAL if the operand has another shape.
    pub(crate) fn same_or_scalar(operand: &TensorType, result: &TensorType) -> Result<Access, Error> {
        match () {
            () if operand.dims == result.dims => {
                Ok(Access::broadcast(&operand.dims, &result.dims, &identity(result.rank())))
            }
            () if operand.count() == 1 => Ok(Access::new(&[], &[])),
            () => {
                Err(Error::internal(format!("expected an operand of the shape of {result} or a scalar, got {operand}")))
            }
        }
    }

    /// Whether the elements are contiguous.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.strides.iter().all(|&stride| stride == 1) && self.strides.len() <= 1
    }

    /// Whether every element is the operand's first.
    pub(crate) fn is_splat(&self) -> bool {
        self.strides.iter().all(|&stride| stride == 0)
    }

    /// The operand's element for each element of the domain, beginning at `first`.
    pub(crate) fn places(&self, first: usize) -> impl Iterator<Item = usize> {
        (first..).map(|index| {
            let dims = self.dims.iter().zip(&self.strides).rev();
            let (_, place) =
                dims.fold((index, 0), |(rest, place), (&dim, &stride)| (rest / dim, place + rest % dim * stride));
            place
        })
    }

    /// Copies the elements of the domain, beginning at `start`, to `out`.
    pub(crate) fn load<T: Pod>(&self, operand: &[T], start: usize, out: &mut [T]) {
        let Some((&inner, outer)) = self.dims.split_last() else { return out.fill(operand[0]) };
        let step = self.strides[outer.len()];
        let mut index: SmallVec<[usize; 4]> = smallvec::smallvec![0; outer.len()];
        let (mut rest, mut place) = (start / inner, 0);
        for dim in (0..outer.len()).rev() {
            index[dim] = rest % outer[dim];
            rest /= outer[dim];
            place += index[dim] * self.strides[dim];
        }
        let mut column = start % inner;
        let mut filled = 0;
        while filled < out.len() {
            let run = (inner - column).min(out.len() - filled);
            let span = &mut out[filled..filled + run];
            let first = place + column * step;
            match step {
                0 => span.fill(operand[first]),
                1 => span.copy_from_slice(&operand[first..first + run]),
                _ => span.iter_mut().zip(operand[first..].iter().step_by(step)).for_each(|(out, &x)| *out = x),
            }
            filled += run;
            column = 0;
            for dim in (0..outer.len()).rev() {
                index[dim] += 1;
                place += self.strides[dim];
                if index[dim] < outer[dim] {
                    break;
                }
                place -= index[dim] * self.strides[dim];
                index[dim] = 0;
            }
        }
    }
}

/// The numbers of dimensions in order.
fn identity(rank: usize) -> SmallVec<[usize; 4]> {
    (0..rank).collect()
}
