//! Ops of dynamic shapes, where the shapes turn out to be static: the result type says what the shape operands say, or
//! these are constants.

use super::{Source, indexing::gather_of, shape, window::convolution_of};
use crate::{Error, OpKind};

/// Drops the operands after the first `count`.
fn keep_operands(op: &mut dyn Source, count: usize) -> Result<(), Error> {
    if count > 0 {
        op.operand(count - 1)?;
    }
    op.op().operands.truncate(count);
    Ok(())
}

/// Keeps the first `count` operands; the next one is the shape of the result, which has to agree if it is known.
fn drop_shape(op: &mut dyn Source, count: usize) -> Result<(), Error> {
    let shape = op.constant_sizes(count);
    let result = op.result_type()?;
    if let Ok(shape) = shape
        && shape[..] != result.dims[..]
    {
        return Err(Error::invalid(format!("the shape {shape:?} is not that of the result, {result}")));
    }
    keep_operands(op, count)
}

pub(super) fn reshape(op: &mut dyn Source) -> Result<OpKind, Error> {
    drop_shape(op, 1)?;
    Ok(OpKind::Reshape)
}

pub(super) fn broadcast_in_dim(op: &mut dyn Source) -> Result<OpKind, Error> {
    drop_shape(op, 1)?;
    shape::broadcast_in_dim(op)
}

pub(super) fn iota(op: &mut dyn Source) -> Result<OpKind, Error> {
    drop_shape(op, 0)?;
    super::elementwise::iota(op)
}

pub(super) fn pad(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (low, high) = (op.constant_operand(2)?, op.constant_operand(3)?);
    let interior = op.constant_operand(4)?;
    keep_operands(op, 2)?;
    Ok(OpKind::Pad { low, high, interior })
}

pub(super) fn slice(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (start, limit) = (op.constant_sizes(1)?, op.constant_sizes(2)?);
    let strides = op.constant_sizes(3)?;
    keep_operands(op, 1)?;
    Ok(OpKind::Slice { start, limit, strides })
}

pub(super) fn gather(op: &mut dyn Source) -> Result<OpKind, Error> {
    let slice_sizes = op.constant_sizes(2)?;
    keep_operands(op, 2)?;
    gather_of(op, slice_sizes)
}

/// The padding is operand 2. The first version has an attribute of that name as well, which the operand replaces.
pub(super) fn convolution(op: &mut dyn Source) -> Result<OpKind, Error> {
    let padding = op.constant_operand(2)?;
    keep_operands(op, 2)?;
    convolution_of(op, padding)
}

/// The size that a dimension has anyway.
pub(super) fn set_dimension_size(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dim = op.size("dimension")?;
    let size = op.constant_sizes(1)?;
    if op.operand_type(0)?.dims.get(dim).copied() != size.first().copied() || size.len() != 1 {
        return Err(Error::unsupported("dynamic shapes are not supported"));
    }
    keep_operands(op, 1)?;
    Ok(OpKind::Reshape)
}
