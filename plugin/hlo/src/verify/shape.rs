//! Ops that move elements.

use super::signature::{Class, Signature, dimension, ensure, one, per_dimension, same_element, scalar, unique_dims};
use crate::{Error, Literal, TensorType, Type};

pub(crate) fn constant(cx: Signature<'_>, literal: &Literal) -> Result<Vec<Type>, Error> {
    cx.arity(0)?;
    let ty = literal.ty();
    ensure!(ty.dynamic.is_empty(), "a constant must have a static shape, got {ty}");
    one(ty.clone())
}

pub(crate) fn iota(cx: Signature<'_>, dim: usize) -> Result<Vec<Type>, Error> {
    cx.arity(0)?;
    let result = cx.given_result()?;
    dimension(dim, "iota_dimension", result, "the result")?;
    ensure!(
        result.element != crate::ElementType::Pred,
        "the result must be a tensor of {}, got {result}",
        Class::Number
    );
    one(result.clone())
}

pub(crate) fn broadcast_in_dim(cx: Signature<'_>, dims: &[usize]) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let (operand, result) = (cx.tensor(0, "operand")?, cx.given_result()?);
    per_dimension(dims, "broadcast_dimensions", operand, "operand")?;
    unique_dims(dims, "broadcast_dimensions", result.rank(), "the result")?;
    for (dim, &target) in dims.iter().enumerate() {
        let (from, to) = (operand.dims[dim], result.dims[target]);
        ensure!(
            from == 1 || from == to,
            "dimension {dim} of operand, {operand}, must be 1 or {to}, the size of dimension {target} of the result, \
             {result}"
        );
    }
    one(result.with_element(operand.element))
}

pub(crate) fn reshape(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let (operand, result) = (cx.tensor(0, "operand")?, cx.given_result()?);
    ensure!(
        operand.checked_count() == result.checked_count(),
        "operand and result must have the same number of elements, got {operand} and {result}"
    );
    one(result.with_element(operand.element))
}

pub(crate) fn transpose(cx: Signature<'_>, permutation: &[usize]) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor(0, "operand")?;
    per_dimension(permutation, "permutation", operand, "operand")?;
    unique_dims(permutation, "permutation", operand.rank(), "operand")?;
    one(TensorType::new(operand.element, permutation.iter().map(|&dim| operand.dims[dim])))
}

pub(crate) fn slice(
    cx: Signature<'_>,
    start: &[usize],
    limit: &[usize],
    strides: &[usize],
) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor(0, "operand")?;
    per_dimension(start, "start_indices", operand, "operand")?;
    per_dimension(limit, "limit_indices", operand, "operand")?;
    per_dimension(strides, "strides", operand, "operand")?;
    let mut dims = operand.dims.clone();
    for (dim, size) in dims.iter_mut().enumerate() {
        let (start, limit, stride) = (start[dim], limit[dim], strides[dim]);
        ensure!(
            start <= limit && limit <= *size,
            "start_indices[{dim}] = {start} and limit_indices[{dim}] = {limit} must be ascending and within operand, \
             {operand}"
        );
        ensure!(stride > 0, "strides[{dim}] must be positive, got {stride}");
        *size = (limit - start).div_ceil(stride);
    }
    one(TensorType::new(operand.element, dims))
}

/// Checks start indices: one integer scalar for each dimension of `ty`, all of one type.
fn start_indices(cx: Signature<'_>, first: usize, ty: &TensorType) -> Result<(), Error> {
    let count = cx.operands.len().saturating_sub(first);
    ensure!(count == ty.rank(), "start_indices must have an entry for each dimension of operand, {ty}, got {count}");
    for index in first..cx.operands.len() {
        let start = cx.tensor_of(index, "start_indices", Class::Integer)?;
        scalar(start, "start_indices")?;
        same_element(cx.tensor(first, "start_indices")?, "start_indices", start, "start_indices")?;
    }
    Ok(())
}

pub(crate) fn dynamic_slice(cx: Signature<'_>, sizes: &[usize]) -> Result<Vec<Type>, Error> {
    let operand = cx.tensor(0, "operand")?;
    start_indices(cx, 1, operand)?;
    per_dimension(sizes, "slice_sizes", operand, "operand")?;
    for (dim, &size) in sizes.iter().enumerate() {
        ensure!(
            size <= operand.dims[dim],
            "slice_sizes[{dim}] must be at most dimension {dim} of operand {operand}, got {size}"
        );
    }
    one(TensorType::new(operand.element, sizes.iter().copied()))
}

pub(crate) fn dynamic_update_slice(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    let (operand, update) = (cx.tensor(0, "operand")?, cx.tensor(1, "update")?);
    same_element(operand, "operand", update, "update")?;
    start_indices(cx, 2, operand)?;
    ensure!(
        update.rank() == operand.rank() && update.dims.iter().zip(&operand.dims).all(|(part, whole)| part <= whole),
        "update must fit into operand {operand}, got {update}"
    );
    one(operand.clone())
}

pub(crate) fn pad(cx: Signature<'_>, low: &[i64], high: &[i64], interior: &[i64]) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let (operand, value) = (cx.tensor(0, "operand")?, cx.tensor(1, "padding_value")?);
    same_element(operand, "operand", value, "padding_value")?;
    scalar(value, "padding_value")?;
    per_dimension(low, "edge_padding_low", operand, "operand")?;
    per_dimension(high, "edge_padding_high", operand, "operand")?;
    per_dimension(interior, "interior_padding", operand, "operand")?;
    let mut dims = operand.dims.clone();
    for (dim, size) in dims.iter_mut().enumerate() {
        ensure!(interior[dim] >= 0, "interior_padding[{dim}] must not be negative, got {}", interior[dim]);
        let holes = (*size as i128 - 1).max(0).saturating_mul(i128::from(interior[dim]));
        let edges = i128::from(low[dim]) + i128::from(high[dim]);
        let padded = holes.saturating_add(*size as i128).saturating_add(edges);
        *size = usize::try_from(padded).map_err(|_| {
            Error::invalid(format!("dimension {dim} of operand {operand} cannot have size {padded} after padding"))
        })?;
    }
    one(TensorType::new(operand.element, dims))
}

pub(crate) fn concatenate(cx: Signature<'_>, dim: usize) -> Result<Vec<Type>, Error> {
    let inputs = cx.tensors(0..cx.operands.len().max(1), "inputs")?;
    let first = inputs[0];
    dimension(dim, "dimension", first, "inputs")?;
    let mut result = first.clone();
    for input in &inputs[1..] {
        same_element(first, "inputs", input, "inputs")?;
        let others = |ty: &TensorType| {
            ty.dims.iter().enumerate().map(|(d, &size)| if d == dim { 0 } else { size }).collect::<Vec<_>>()
        };
        ensure!(
            others(first) == others(input),
            "inputs must have the same shape except in dimension {dim}, got {first} and {input}"
        );
        result.dims[dim] = result.dims[dim]
            .checked_add(input.dims[dim])
            .ok_or_else(|| Error::invalid("the size of the result does not fit in 64 bits"))?;
    }
    one(result)
}

pub(crate) fn reverse(cx: Signature<'_>, dims: &[usize]) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor(0, "operand")?;
    unique_dims(dims, "dimensions", operand.rank(), "operand")?;
    one(operand.clone())
}

pub(crate) fn get_dimension_size(cx: Signature<'_>, dim: usize) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    dimension(dim, "dimension", cx.tensor(0, "operand")?, "operand")?;
    one(TensorType::scalar(crate::ElementType::S32))
}

pub(crate) fn set_dimension_size(cx: Signature<'_>, dim: usize) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let (operand, size) = (cx.tensor(0, "operand")?, cx.tensor(1, "size")?);
    dimension(dim, "dimension", operand, "operand")?;
    ensure!(*size == TensorType::scalar(crate::ElementType::S32), "size must be a scalar of i32, got {size}");
    let mut result = operand.clone();
    ensure!(result.dynamic.insert(dim), "dimension {dim} of operand, {operand}, cannot be dynamic: there are too many");
    one(result)
}
