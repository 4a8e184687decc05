//! Ops that move elements by position.

use super::Source;
use crate::{Error, OpKind};

pub(super) fn broadcast_in_dim(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::BroadcastInDim { dims: op.sizes("broadcast_dimensions")? })
}

/// The legacy broadcast, which puts new dimensions before those of the operand.
pub(super) fn broadcast(op: &mut dyn Source) -> Result<OpKind, Error> {
    let added = op.sizes("broadcast_sizes")?.len();
    let rank = op.operand_type(0)?.rank();
    Ok(OpKind::BroadcastInDim { dims: (added..added + rank).collect() })
}

pub(super) fn transpose(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Transpose { permutation: op.sizes("permutation")? })
}

pub(super) fn slice(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (start, limit) = (op.sizes("start_indices")?, op.sizes("limit_indices")?);
    let strides = op.sizes_or("strides", || vec![1; start.len()])?;
    Ok(OpKind::Slice { start, limit, strides })
}

pub(super) fn dynamic_slice(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::DynamicSlice { sizes: op.sizes("slice_sizes")? })
}

pub(super) fn pad(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (low, high) = (op.required_integers("edge_padding_low")?, op.required_integers("edge_padding_high")?);
    Ok(OpKind::Pad { low, high, interior: op.required_integers("interior_padding")? })
}

pub(super) fn concatenate(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Concatenate { dim: op.size("dimension")? })
}

pub(super) fn reverse(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Reverse { dims: op.sizes("dimensions")? })
}

pub(super) fn get_dimension_size(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::GetDimensionSize { dim: op.size("dimension")? })
}
