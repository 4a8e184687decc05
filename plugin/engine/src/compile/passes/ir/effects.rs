//! Effects of ops: whether they may be removed, shared or moved.

use oxcall_hlo::{Op, OpKind};

use crate::math;

/// Whether the results depend on nothing but the operands, so that equal ops may be one. Custom calls count as impure:
/// a handler may keep a state. So are collectives, which all processes have to meet at in one order.
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

/// Whether the op has to run even if nothing uses its results, and after all such ops before it.
pub(crate) fn has_effect(op: &Op) -> bool {
    let own = matches!(&op.kind, OpKind::CustomCall(call) if call.has_side_effect);
    own || op.regions.iter().flat_map(|region| &region.ops).any(has_effect)
}

/// Whether each element of the result depends on the same element of each operand alone. A bitcast may join elements.
pub(crate) fn is_elementwise(kind: &OpKind) -> bool {
    math::is_element_wise(kind) && *kind != OpKind::BitcastConvert
}
