//! Loop-invariant code motion.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{BinaryOp, Module, Op, OpKind, Region, TensorType, UnaryOp, ValueId};

use super::ir::{Mapping, Rewrite, Rewriter, clone_op, is_pure, rewrite};

/// The bytes up to which an invariant result is read from a cache in no time.
const SMALL: usize = 4096;

/// Moves constants before the loop, invariant ops whose results are small, or smaller than what they read, and costly
/// functions with what they need. Large broadcasts stay, and those of one element: they cost nothing where they are
/// used. Returns whether any moved.
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
    let needed = needed(rewriter, region);
    let mut inside: HashSet<ValueId> = region.params.iter().copied().collect();
    let mut copies = Mapping::default();
    let ops = std::mem::take(&mut region.ops);
    region.ops.reserve(ops.len());
    for mut op in ops {
        let is_needed = op.results.iter().any(|result| needed.contains(result));
        if is_needed {
            op.operands = copies.all(&op.operands);
        }
        let invariant = op.operands.iter().all(|operand| !inside.contains(operand));
        if invariant && is_worthwhile(rewriter, &op) || is_needed && !is_free(&op.kind) {
            rewriter.hoist(op);
            continue;
        }
        if is_needed {
            // It costs nothing where others use it.
            let copy = clone_op(&op, rewriter.values(), &mut copies);
            rewriter.hoist(copy);
        }
        inside.extend(&op.results);
        region.ops.push(op);
    }
}

/// The most bytes of a costly function's result, and of each value that it needs: those that a cache holds are read in
/// less time than the function takes.
const LARGE: usize = 16 << 20;

/// The values that costly invariant results need, and those results.
fn needed(rewriter: &Rewriter<'_>, region: &Region) -> HashSet<ValueId> {
    let mut staying: HashSet<ValueId> = region.params.iter().copied().collect();
    let mut needed = HashSet::new();
    for op in &region.ops {
        let is_large = bytes(rewriter, &op.results) > LARGE;
        if is_large || !is_movable(op) || op.operands.iter().any(|operand| staying.contains(operand)) {
            staying.extend(&op.results);
        } else if is_costly(&op.kind) {
            needed.extend(&op.results);
        }
    }
    for op in region.ops.iter().rev() {
        if op.results.iter().any(|result| needed.contains(result)) {
            needed.extend(&op.operands);
        }
    }
    needed
}

/// Whether computing an element of the result takes longer than reading it from memory.
fn is_costly(kind: &OpKind) -> bool {
    use UnaryOp as U;
    match kind {
        OpKind::Unary(op) => matches!(
            op,
            U::Exponential
                | U::ExponentialMinusOne
                | U::Log
                | U::LogPlusOne
                | U::Logistic
                | U::Sine
                | U::Cosine
                | U::Tan
                | U::Sinh
                | U::Cosh
                | U::Tanh
                | U::Asin
                | U::Acos
                | U::Atan
                | U::Asinh
                | U::Acosh
                | U::Atanh
                | U::Erf
                | U::Erfc
                | U::ErfInv
                | U::Lgamma
                | U::Digamma
                | U::Cbrt
        ),
        OpKind::Binary(op) => matches!(op, BinaryOp::Power | BinaryOp::Atan2),
        OpKind::Fft { .. } => true,
        _ => false,
    }
}

/// Whether fusions compute the result at no cost, however large it is.
fn is_free(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Iota { .. } | OpKind::BroadcastInDim { .. })
}

fn is_movable(op: &Op) -> bool {
    !matches!(op.kind, OpKind::OptimizationBarrier | OpKind::AfterAll) && op.regions.is_empty() && is_pure(op)
}

/// The bytes of all values together.
fn bytes(rewriter: &Rewriter<'_>, values: &[ValueId]) -> usize {
    let sizes = values.iter().filter_map(|&value| rewriter.ty(value).tensor()).map(TensorType::byte_size);
    sizes.fold(0, usize::saturating_add)
}

fn is_worthwhile(rewriter: &Rewriter<'_>, op: &Op) -> bool {
    if matches!(op.kind, OpKind::Constant(_)) {
        return true;
    }
    if !is_movable(op) {
        return false;
    }
    let results = bytes(rewriter, &op.results);
    match op.kind {
        OpKind::Iota { .. } => results <= SMALL,
        OpKind::BroadcastInDim { .. } => {
            let operand = rewriter.ty(op.operands[0]).tensor().and_then(TensorType::checked_count);
            results <= SMALL && operand.is_some_and(|count| count > 1)
        }
        _ => results <= SMALL.max(bytes(rewriter, &op.operands)),
    }
}
