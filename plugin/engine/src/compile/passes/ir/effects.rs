//! Effects of ops, which decide whether they may be removed, shared or moved.

use oxcall_hlo::{Op, OpKind};
use oxcall_kernels::math;

/// Whether the results depend only on the operands, so that equal ops may be merged. Custom calls count as impure,
/// because a handler may keep a state, and so do collectives, which all processes have to reach in the same order.
pub(crate) fn is_pure(op: &Op) -> bool {
    let impure = matches!(
        op.kind,
        OpKind::CustomCall(_)
            | OpKind::Rng(_)
            | OpKind::Call(_)
            | OpKind::Composite { .. }
            | OpKind::PartitionId
            | OpKind::ReplicaId
    );
    !impure && op.kind.collective().is_none() && op.regions.iter().flat_map(|region| &region.ops).all(is_pure)
}

/// Whether the op has to run even if its results are unused, and after all earlier ops with effects.
pub(crate) fn has_effect(op: &Op) -> bool {
    let own = matches!(&op.kind, OpKind::CustomCall(call) if call.has_side_effect);
    own || op.regions.iter().flat_map(|region| &region.ops).any(has_effect)
}

/// Whether each element of the result depends only on the same element of each operand. A bitcast may join elements.
pub(crate) fn is_elementwise(kind: &OpKind) -> bool {
    math::is_element_wise(kind) && *kind != OpKind::BitcastConvert
}
