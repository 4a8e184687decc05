//! Common subexpression elimination.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;

use oxcall::Error;
use oxcall_hlo::{Module, Op, OpKind, Region, ValueId};

use super::ir::{Mapping, Rewrite, Rewriter, is_pure, rewrite};

/// Replaces the results of an op by those of an equal earlier op, in the same region or one around it. Returns whether
/// there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn share(module: &mut Module) -> Result<bool, Error> {
    // The first result of each op seen so far, by the op's hash. Values of closed regions have no definition.
    let mut seen: HashMap<u64, Vec<ValueId>> = HashMap::new();
    rewrite(module, |rewriter, op| {
        let sharable = is_pure(&op) && !matches!(op.kind, OpKind::OptimizationBarrier | OpKind::AfterAll);
        let Some(&result) = op.results.first().filter(|_| sharable) else { return Ok(Rewrite::Keep(op)) };
        let candidates = seen.entry(hash(&op)).or_default();
        let earlier = candidates.iter().filter_map(|&value| rewriter.def(value)).find(|def| same(rewriter, def, &op));
        if let Some(earlier) = earlier {
            return Ok(Rewrite::With(earlier.results.as_slice().into()));
        }
        candidates.push(result);
        Ok(Rewrite::Keep(op))
    })
}

/// A hash of the parts that [`same`] compares, without regions and long lists.
fn hash(op: &Op) -> u64 {
    let mut hasher = DefaultHasher::new();
    discriminant(&op.kind).hash(&mut hasher);
    op.operands.hash(&mut hasher);
    match &op.kind {
        OpKind::Unary(unary) => unary.hash(&mut hasher),
        OpKind::Binary(binary) => binary.hash(&mut hasher),
        OpKind::Compare(direction, _) => direction.hash(&mut hasher),
        OpKind::Constant(literal) => {
            literal.ty().hash(&mut hasher);
            literal.data()[..literal.data().len().min(64)].hash(&mut hasher);
        }
        _ => {}
    }
    hasher.finish()
}

/// Whether two pure ops compute the same.
fn same(rewriter: &Rewriter<'_>, lhs: &Op, rhs: &Op) -> bool {
    let mut renamed = Mapping::default();
    same_op(rewriter, lhs, rhs, &mut renamed)
}

/// Like [`same`], where `renamed` maps values of the left op to those of the right.
fn same_op(rewriter: &Rewriter<'_>, lhs: &Op, rhs: &Op, renamed: &mut Mapping) -> bool {
    let equal = lhs.kind == rhs.kind
        && lhs.operands.len() == rhs.operands.len()
        && lhs.operands.iter().zip(&rhs.operands).all(|(&left, &right)| renamed.get(left) == right)
        && lhs.regions.len() == rhs.regions.len()
        && same_types(rewriter, &lhs.results, &rhs.results);
    equal && lhs.regions.iter().zip(&rhs.regions).all(|(left, right)| same_region(rewriter, left, right, renamed))
}

fn same_region(rewriter: &Rewriter<'_>, lhs: &Region, rhs: &Region, renamed: &mut Mapping) -> bool {
    if lhs.ops.len() != rhs.ops.len() || !same_types(rewriter, &lhs.params, &rhs.params) {
        return false;
    }
    renamed.extend(&lhs.params, &rhs.params);
    for (left, right) in lhs.ops.iter().zip(&rhs.ops) {
        if !same_op(rewriter, left, right, renamed) {
            return false;
        }
        renamed.extend(&left.results, &right.results);
    }
    renamed.all(&lhs.results) == rhs.results
}

fn same_types(rewriter: &Rewriter<'_>, lhs: &[ValueId], rhs: &[ValueId]) -> bool {
    lhs.len() == rhs.len() && lhs.iter().zip(rhs).all(|(&left, &right)| rewriter.ty(left) == rewriter.ty(right))
}
