//! Loop-invariant code motion.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{Module, Op, OpKind, Region, TensorType, ValueId};

use super::ir::{Rewrite, Rewriter, is_pure, rewrite};

/// Moves constants before the loop, and invariant ops that produce less data than they read. Broadcasts stay: they cost
/// nothing where they are used. Returns whether any moved.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn hoist(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, mut op| {
        if op.kind == OpKind::While {
            op.regions.iter_mut().for_each(|region| hoist_region(rewriter, region));
        }
        Ok(Rewrite::Keep(op))
    })
}

fn hoist_region(rewriter: &mut Rewriter<'_>, region: &mut Region) {
    let mut inside: HashSet<ValueId> = region.params.iter().copied().collect();
    let ops = std::mem::take(&mut region.ops);
    region.ops.reserve(ops.len());
    for op in ops {
        let invariant = op.operands.iter().all(|operand| !inside.contains(operand));
        if invariant && is_worthwhile(rewriter, &op) {
            rewriter.hoist(op);
        } else {
            inside.extend(&op.results);
            region.ops.push(op);
        }
    }
}

fn is_worthwhile(rewriter: &Rewriter<'_>, op: &Op) -> bool {
    if matches!(op.kind, OpKind::Constant(_)) {
        return true;
    }
    if matches!(op.kind, OpKind::OptimizationBarrier | OpKind::AfterAll) || !op.regions.is_empty() || !is_pure(op) {
        return false;
    }
    let bytes = |values: &[ValueId]| -> usize {
        let sizes = values.iter().filter_map(|&value| rewriter.ty(value).tensor()).map(TensorType::byte_size);
        sizes.fold(0, usize::saturating_add)
    };
    let is_broadcast = matches!(op.kind, OpKind::BroadcastInDim { .. } | OpKind::Iota { .. });
    !is_broadcast && bytes(&op.results) <= bytes(&op.operands)
}
