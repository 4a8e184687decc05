//! The kernels of ops, and the ops that need none.

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind, TensorType};

use super::Cluster;
use crate::kernel::Kernel;

/// The clusters of a region: ops that one kernel computes together.
pub(super) fn clusters(region: &oxcall_hlo::Region, func: &Func) -> Result<Vec<Cluster>, Error> {
    let _ = (region, func);
    Ok(Vec::new())
}

/// The kernel of one op.
pub(super) fn single(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    crate::kernels::make(op, func)
}

/// Whether the result of `op` has the bytes of its first operand, in the same order.
pub(super) fn is_view(op: &Op, from: &TensorType, to: &TensorType) -> bool {
    match &op.kind {
        OpKind::Reshape | OpKind::OptimizationBarrier => true,
        OpKind::Convert => from.element == to.element,
        OpKind::BitcastConvert => from.element == to.element || (from.element.bits() >= 8 && to.element.bits() >= 8),
        OpKind::BroadcastInDim { dims } => from.count() == to.count() && dims.is_sorted(),
        OpKind::Transpose { permutation } => permutation.iter().filter(|&&dim| from.dims[dim] != 1).is_sorted(),
        OpKind::Slice { .. } => from.dims == to.dims,
        OpKind::Concatenate { .. } => op.operands.len() == 1,
        _ => false,
    }
}
