//! Loop-invariant code motion.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{Module, Op, OpKind, Region, TensorType, ValueId};

use super::ir::{Rewrite, Rewriter, is_pure, rewrite};

/// The bytes up to which an invariant result is read from a cache in no time.
const SMALL: usize = 4096;

/// Moves constants before the loop, and invariant ops whose results are small, or smaller than what they read. Large
/// broadcasts stay, and those of one element: they cost nothing where they are used. Returns whether any moved.
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
    let results = bytes(&op.results);
    match op.kind {
        OpKind::Iota { .. } => results <= SMALL,
        OpKind::BroadcastInDim { .. } => {
            let operand = rewriter.ty(op.operands[0]).tensor().and_then(TensorType::checked_count);
            results <= SMALL && operand.is_some_and(|count| count > 1)
        }
        _ => results <= SMALL.max(bytes(&op.operands)),
    }
}
