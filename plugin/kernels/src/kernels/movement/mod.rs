//! Kernels that move elements: transpose, slice, reverse, pad, concatenate, reshape, bitcast, and dynamic
//! slices and their updates.
//!
//! All kernels work from the result, which is written once, so that pieces of it are independent and work is split
//! without `unsafe`. `strided` serves all ops that read their operand by strides; `tiles` and `thin` transpose, and
//! `rows` copies rows.

mod bits;
mod concatenate;
mod dynamic;
pub(crate) mod interleave;
mod pad;
#[allow(unsafe_code, reason = "reads at offsets that were checked together")]
mod places;
mod rows;
mod shuffle;
#[allow(unsafe_code, reason = "stores past the caches, and loads ahead")]
mod stream;
pub(crate) mod strided;
#[cfg(test)]
mod tests;
mod thin;
mod tiles;

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind, TensorType, ValueId};
use smallvec::{SmallVec, smallvec};

pub(crate) use self::dynamic::window_copies;
pub(in crate::kernels) use self::rows::copy_rows;
pub(crate) use self::stream::prefetch;
use self::strided::StridedCopy;
use self::tiles::{Matrix, Stores};
use crate::kernel::Kernel;
use crate::pool::Pool;

/// The kernel of an op of this family.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let operand = tensor(func, op.operands[0])?;
    let result = tensor(func, op.results[0])?;
    let width = operand.element.byte_width();
    let strides = row_major(&operand.dims);
    Ok(match &op.kind {
        OpKind::Transpose { permutation } => return Ok(transpose(operand, permutation)),
        OpKind::Slice { start, strides: steps, .. } => {
            let offset = start.iter().zip(&strides).map(|(&start, &stride)| start as isize * stride).sum();
            let strides = strides.iter().zip(steps).map(|(&stride, &step)| stride * step as isize);
            Box::new(StridedCopy::new("slice", width, &result.dims, strides, offset))
        }
        OpKind::Reverse { dims } => {
            let reversed = |dim: usize| dims.contains(&dim) && operand.dims[dim] > 0;
            let last = |dim: usize| (operand.dims[dim] - 1) as isize * strides[dim];
            let offset = (0..operand.rank()).filter(|&dim| reversed(dim)).map(last).sum();
            let strides = strides.iter().enumerate();
            let strides = strides.map(|(dim, &stride)| if reversed(dim) { -stride } else { stride });
            Box::new(StridedCopy::new("reverse", width, &result.dims, strides, offset))
        }
        OpKind::Reshape => Box::new(StridedCopy::contiguous("reshape", width, operand.count())),
        OpKind::BitcastConvert if operand.element.bits() >= 8 && result.element.bits() >= 8 => {
            Box::new(StridedCopy::contiguous("bitcast_convert", 1, operand.byte_size()))
        }
        OpKind::BitcastConvert if operand.element.is_complex() || result.element.is_complex() => {
            return Err(Error::unimplemented(format!(
                "bitcast_convert from {} to {} is not supported: one is complex, the other narrower than a byte",
                operand.element, result.element
            )));
        }
        OpKind::BitcastConvert => Box::new(bits::BitcastConvert::new(operand, result)),
        OpKind::Pad { low, high: _, interior } => Box::new(pad::Pad::new(operand, result, low, interior)),
        OpKind::DynamicSlice { sizes } => {
            let index = op.operands.get(1).map(|&value| tensor(func, value)).transpose()?;
            Box::new(dynamic::DynamicSlice::new(operand, index, sizes))
        }
        OpKind::DynamicUpdateSlice => {
            let index = op.operands.get(2).map(|&value| tensor(func, value)).transpose()?;
            Box::new(dynamic::DynamicUpdateSlice::new(operand, tensor(func, op.operands[1])?, index))
        }
        OpKind::Concatenate { dim } => {
            let operands: Vec<&TensorType> =
                op.operands.iter().map(|&value| tensor(func, value)).collect::<Result<_, _>>()?;
            Box::new(concatenate::Concatenate::new(&operands, *dim))
        }
        other => return Err(Error::internal(format!("expected an op that only moves elements, got {}", other.name()))),
    })
}

/// The kernel that permutes the dimensions of `ty`: dimension `i` of the result is `permutation[i]` of the operand.
pub fn transpose(ty: &TensorType, permutation: &[usize]) -> Box<dyn Kernel> {
    let strides = row_major(&ty.dims);
    let dims: SmallVec<[usize; 4]> = permutation.iter().map(|&dim| ty.dims[dim]).collect();
    let strides = permutation.iter().map(|&dim| strides[dim]);
    Box::new(StridedCopy::new("transpose", ty.element.byte_width(), &dims, strides, 0))
}

/// Copies a matrix whose columns are dense, `stride` elements apart, to `dst`, where its rows are: on all threads if
/// `splits`.
pub(crate) fn transposed_copy<T: Pod + Send + Sync>(
    pool: &Pool,
    splits: bool,
    (src, stride): (&[T], usize),
    [rows, columns]: [usize; 2],
    dst: &mut [T],
) {
    if splits {
        let piece = rows.div_ceil(pool.threads()).next_multiple_of(16);
        pool.split_chunks(dst, piece * columns, |start, dst| {
            transposed_rows((&src[start / columns..], stride), columns, dst);
        });
    } else {
        transposed_rows((src, stride), columns, dst);
    }
}

/// Copies a matrix whose columns are dense, `stride` elements apart, to rows of `columns` elements: as many as fill
/// `dst`.
pub(crate) fn transposed_rows<T: Pod>((src, stride): (&[T], usize), columns: usize, dst: &mut [T]) {
    let matrix = Matrix { src, base: 0, stride: stride.cast_signed(), pitch: columns, stores: Stores::Cached };
    matrix.transpose(dst, dst.len() / columns, columns, &mut None);
}

/// The type of a value that must be a tensor.
pub(crate) fn tensor(func: &Func, value: ValueId) -> Result<&TensorType, Error> {
    let ty = func.ty(value);
    ty.tensor().ok_or_else(|| Error::internal(format!("expected a tensor, got {ty}")))
}

/// The distance of neighbours along each dimension of a row-major tensor.
pub(crate) fn row_major(dims: &[usize]) -> SmallVec<[isize; 4]> {
    let mut strides: SmallVec<[isize; 4]> = smallvec![1; dims.len()];
    for dim in (1..dims.len()).rev() {
        strides[dim - 1] = strides[dim] * dims[dim].max(1) as isize;
    }
    strides
}
