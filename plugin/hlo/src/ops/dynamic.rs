//! Ops of dynamic shapes, where the result type says what the shape operands say, these are constants, or bounds are
//! known: then the sizes of dynamic dimensions are set.

use super::indexing::gather_of;
use super::source::Source;
use super::window::convolution_of;
use crate::{ElementType, Error, OpKind, TensorType, ValueId};

/// Drops the operands after the first `count`.
fn keep_operands(op: &mut dyn Source, count: usize) -> Result<(), Error> {
    if count > 0 {
        op.operand(count - 1)?;
    }
    op.op().operands.truncate(count);
    Ok(())
}

/// Keeps the first `count` operands; the next one is the shape of the result, which has to agree if it is known.
/// The answer is the shape, if the result has dynamic dimensions, whose sizes it says.
fn drop_shape(op: &mut dyn Source, count: usize) -> Result<Option<ValueId>, Error> {
    let shape = op.constant_sizes(count);
    let result = op.result_type()?;
    let is_static = result.dynamic.is_empty();
    if let Ok(shape) = shape
        && is_static
        && shape[..] != result.dims[..]
    {
        return Err(Error::invalid(format!("the shape must be that of the result, {result}, got {shape:?}")));
    }
    let shape = op.operand(count)?;
    keep_operands(op, count)?;
    Ok((!is_static).then_some(shape))
}

/// The op `kind`, the sizes of whose result's dynamic dimensions are elements of `shape`, if there is one.
fn sized(op: &mut dyn Source, kind: OpKind, shape: Option<ValueId>) -> Result<OpKind, Error> {
    let Some(shape) = shape else { return Ok(kind) };
    let mut ty = op.result_type()?.clone();
    let dynamic = std::mem::take(&mut ty.dynamic);
    if op.operand_type(0).is_ok_and(|operand| !operand.dynamic.is_empty()) {
        // Then the elements go where the sizes say.
        ty.dynamic = dynamic;
    }
    let (mut kind, mut operands) = (kind, op.op().operands.clone());
    for dim in dynamic.iter() {
        let value = op.emit(kind, operands, ty.clone(), Vec::new())?;
        operands = vec![value, element(op, shape, dim)?];
        kind = OpKind::SetDimensionSize { dim };
        ty.dynamic.insert(dim);
    }
    op.op().operands = operands;
    Ok(kind)
}

/// The element at `index` of a vector of integers, as a scalar `S32`.
fn element(op: &mut dyn Source, vector: ValueId, index: usize) -> Result<ValueId, Error> {
    let ty = op.value_type(vector).tensor().filter(|ty| ty.rank() == 1 && index < ty.dims[0]);
    let element =
        ty.ok_or_else(|| Error::invalid("the shape must be a vector with a size for each dimension"))?.element;
    let slice = OpKind::Slice { start: vec![index], limit: vec![index + 1], strides: vec![1] };
    let one = op.emit(slice, vec![vector], TensorType::new(element, [1]), Vec::new())?;
    let scalar = op.emit(OpKind::Reshape, vec![one], TensorType::scalar(element), Vec::new())?;
    op.emit(OpKind::Convert, vec![scalar], TensorType::scalar(ElementType::S32), Vec::new())
}

pub(super) fn reshape(op: &mut dyn Source) -> Result<OpKind, Error> {
    let shape = drop_shape(op, 1)?;
    sized(op, OpKind::Reshape, shape)
}

pub(super) fn broadcast_in_dim(op: &mut dyn Source) -> Result<OpKind, Error> {
    let shape = drop_shape(op, 1)?;
    let kind = OpKind::BroadcastInDim { dims: op.sizes("broadcast_dimensions")? };
    sized(op, kind, shape)
}

pub(super) fn iota(op: &mut dyn Source) -> Result<OpKind, Error> {
    let shape = drop_shape(op, 0)?;
    let kind = OpKind::Iota { dim: op.size("iota_dimension")? };
    sized(op, kind, shape)
}

pub(super) fn pad(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (low, high) = (op.constant_operand(2)?, op.constant_operand(3)?);
    let interior = op.constant_operand(4)?;
    keep_operands(op, 2)?;
    Ok(OpKind::Pad { low, high, interior })
}

/// A slice from a place that may be computed. The result's type says how many elements there are, so its end is known.
pub(super) fn slice(op: &mut dyn Source) -> Result<OpKind, Error> {
    let strides = op.constant_sizes(3)?;
    if let (Ok(start), Ok(limit)) = (op.constant_sizes(1), op.constant_sizes(2)) {
        keep_operands(op, 1)?;
        return Ok(OpKind::Slice { start, limit, strides });
    }
    let (operand, result) = (op.operand_type(0)?.clone(), op.result_type()?.clone());
    if !result.dynamic.is_empty() {
        return Err(Error::unsupported(format!(
            "slices with computed bounds and a dynamic shape are not supported, got {result}"
        )));
    }
    if strides.len() != operand.rank() || result.rank() != operand.rank() || strides.contains(&0) {
        return Err(Error::invalid(format!("strides {strides:?} do not fit a slice of {operand} to {result}")));
    }
    let starts = op.operand(1)?;
    let of_vector = op.value_type(starts).tensor().filter(|ty| ty.rank() == 1 && ty.dims[0] == operand.rank());
    let integer = of_vector
        .ok_or_else(|| {
            Error::invalid(format!(
                "start_indices must be a vector with an entry for each dimension of operand {operand}"
            ))
        })?
        .element;
    let mut operands = vec![op.operand(0)?];
    for index in 0..operand.rank() {
        let slice = OpKind::Slice { start: vec![index], limit: vec![index + 1], strides: vec![1] };
        let one = op.emit(slice, vec![starts], TensorType::new(integer, [1]), Vec::new())?;
        operands.push(op.emit(OpKind::Reshape, vec![one], TensorType::scalar(integer), Vec::new())?);
    }
    // What lies between the first and the last element that is taken.
    let span = |(&size, &stride): (&usize, &usize)| {
        size.checked_sub(1).map_or(Some(0), |gaps| gaps.checked_mul(stride).and_then(|gaps| gaps.checked_add(1)))
    };
    let sizes: Option<Vec<usize>> = result.dims.iter().zip(&strides).map(span).collect();
    let sizes =
        sizes.ok_or_else(|| Error::invalid(format!("strides {strides:?} are too large for a slice to {result}")))?;
    if sizes.iter().zip(&operand.dims).any(|(size, bound)| size > bound) {
        return Err(Error::invalid(format!(
            "operand {operand} is too small for a slice to {result} with strides {strides:?}"
        )));
    }
    let kind = OpKind::DynamicSlice { sizes: sizes.clone() };
    if strides.iter().all(|&stride| stride == 1) {
        op.op().operands = operands;
        return Ok(kind);
    }
    let all = op.emit(kind, operands, TensorType::new(operand.element, sizes.iter().copied()), Vec::new())?;
    op.op().operands = vec![all];
    Ok(OpKind::Slice { start: vec![0; sizes.len()], limit: sizes, strides })
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

/// A constant size that the dimension has anyway changes nothing.
pub(super) fn set_dimension_size(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dim = op.size("dimension")?;
    let size = op.constant_sizes(1).ok().and_then(|size| size.first().copied());
    let ty = op.operand_type(0)?;
    if size.is_some() && size == ty.dims.get(dim).copied() && !ty.dynamic.contains(dim) {
        keep_operands(op, 1)?;
        return Ok(OpKind::Reshape);
    }
    Ok(OpKind::SetDimensionSize { dim })
}
