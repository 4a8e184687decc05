//! Ops that move elements by position.

use super::attributes::Attributes;
use super::source::Source;
use crate::{Error, OpKind};

pub(super) fn slice(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (start, limit) = (op.sizes("start_indices")?, op.sizes("limit_indices")?);
    let strides = op.sizes_or("strides", || vec![1; start.len()])?;
    Ok(OpKind::Slice { start, limit, strides })
}

pub(super) fn write_slice(out: &mut Attributes<'_>, start: &[usize], limit: &[usize], strides: &[usize]) {
    out.sizes("start_indices", start);
    out.sizes("limit_indices", limit);
    out.sizes("strides", strides);
}

/// The legacy broadcast, which puts new dimensions before those of the operand.
pub(super) fn broadcast(op: &mut dyn Source) -> Result<OpKind, Error> {
    let added = op.sizes("broadcast_sizes")?.len();
    let rank = op.operand_type(0)?.rank();
    Ok(OpKind::BroadcastInDim { dims: (added..added + rank).collect() })
}
