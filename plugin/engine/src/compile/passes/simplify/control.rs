//! Control flow that constants decide, and loop-invariant carried values.

use oxcall_hlo::{Op, OpKind, Region, ValueId};

use super::super::ir::{Mapping, Rewriter, remap_operands};

/// The values that replace the results of `op`, if it goes.
pub(super) fn simplify(rewriter: &mut Rewriter<'_>, op: &mut Op) -> Option<Vec<ValueId>> {
    match op.kind {
        OpKind::If | OpKind::Case => take_branch(rewriter, op),
        OpKind::While => {
            if is_false(rewriter, &op.regions[0]) {
                return Some(op.operands.clone());
            }
            capture_invariants(rewriter, op);
            None
        }
        OpKind::Sort { dim, .. } => {
            let ty = rewriter.tensor(op.operands[0]);
            (ty.dims.get(dim).is_none_or(|&size| size <= 1) || ty.count() == 0).then(|| op.operands.clone())
        }
        _ => None,
    }
}

/// Replaces `op` by the branch that a constant selects.
fn take_branch(rewriter: &mut Rewriter<'_>, op: &mut Op) -> Option<Vec<ValueId>> {
    let constant = rewriter.literal(op.operands[0])?.element(0);
    let branch = match op.kind {
        OpKind::If => usize::from(constant[0] == 0),
        _ => {
            let index = i32::from_le_bytes(constant.try_into().expect("verified: an i32"));
            let last = op.regions.len() - 1;
            usize::try_from(index).map_or(last, |index| index.min(last))
        }
    };
    let chosen = op.regions.swap_remove(branch);
    Some(rewriter.splice(chosen).to_vec())
}

/// Whether a condition is the constant false.
fn is_false(rewriter: &Rewriter<'_>, cond: &Region) -> bool {
    let result = cond.results[0];
    let literal = cond.ops.iter().find(|op| op.results.contains(&result)).map_or_else(
        || rewriter.literal(result),
        |op| match &op.kind {
            OpKind::Constant(literal) => Some(literal),
            _ => None,
        },
    );
    literal.is_some_and(|literal| literal.element(0)[0] == 0)
}

/// Lets the regions of a loop, and the ops after it, use the initial value of each invariant directly. The carried
/// value is then unused, and is removed as dead.
fn capture_invariants(rewriter: &mut Rewriter<'_>, op: &mut Op) {
    let body = &op.regions[1];
    let invariant: Vec<usize> =
        (0..op.operands.len()).filter(|&index| body.results[index] == body.params[index]).collect();
    let mut outside = Mapping::default();
    for &index in &invariant {
        for region in &op.regions {
            outside.insert(region.params[index], op.operands[index]);
        }
        rewriter.rename(op.results[index], op.operands[index]);
    }
    if !invariant.is_empty() {
        op.regions.iter_mut().for_each(|region| remap_operands(region, &|value| outside.get(value)));
        for index in invariant {
            op.regions[1].results[index] = op.regions[1].params[index];
        }
    }
}
