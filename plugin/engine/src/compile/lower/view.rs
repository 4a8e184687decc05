//! Ops that need no kernel.

use oxcall_hlo::{Op, OpKind, TensorType};

/// Whether the result of `op` has the bytes of its first operand, in the same order.
pub(crate) fn is_view(op: &Op, from: &TensorType, to: &TensorType) -> bool {
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
