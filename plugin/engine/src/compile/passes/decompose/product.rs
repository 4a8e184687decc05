//! Products of matrices that sum nothing, as products of elements.

use oxcall_hlo::{BinaryOp, DotDims, Op, OpKind, ValueId};

use super::super::ir::{Rewrite, Rewriter};

/// Expands an outer product, or one of which each sum has a single term, where that is exact: `None` otherwise.
pub(super) fn expand(rewriter: &mut Rewriter<'_>, op: &Op, dims: &DotDims) -> Option<Rewrite> {
    let &[lhs, rhs] = &op.operands[..] else { return None };
    let result = rewriter.tensor(op.results[0]).clone();
    let is_kept = |operand: ValueId| {
        let element = rewriter.tensor(operand).element;
        let is_wider = result.element.bits() > element.bits();
        result.element.bits() >= 16 && (element == result.element || is_wider && !element.is_complex())
    };
    let terms: usize = dims.lhs_contracting.iter().map(|&dim| rewriter.tensor(lhs).dims[dim]).product();
    if terms != 1 || dims.algorithm.is_some() || !is_kept(lhs) || !is_kept(rhs) {
        return None;
    }
    let batch = dims.lhs_batching.len();
    let lhs_free = rewriter.tensor(lhs).rank() - batch - dims.lhs_contracting.len();
    let sides = [
        (lhs, &dims.lhs_batching, &dims.lhs_contracting, batch),
        (rhs, &dims.rhs_batching, &dims.rhs_contracting, batch + lhs_free),
    ];
    let [lhs, rhs] = sides.map(|(operand, batching, contracting, free)| {
        let operand = rewriter.convert(operand, result.element);
        let mut ty = rewriter.tensor(operand).clone();
        let is_free = |dim: &usize| !batching.contains(dim) && !contracting.contains(dim);
        let order: Vec<usize> = batching.iter().copied().chain((0..ty.rank()).filter(is_free)).collect();
        // Dimensions in the order of the result, those of size 1 that are contracted last.
        let permutation: Vec<usize> = order.iter().chain(contracting).copied().collect();
        let sizes: Vec<usize> = permutation.iter().map(|&dim| ty.dims[dim]).collect();
        ty.dims = sizes.into_iter().collect();
        let ordered = rewriter.emit(OpKind::Transpose { permutation }, &[operand], ty.clone());
        ty.dims.truncate(order.len());
        let kept = rewriter.emit(OpKind::Reshape, &[ordered], ty);
        let places: Vec<usize> = (0..batch).chain(free..free + order.len() - batch).collect();
        rewriter.broadcast(kept, &places, &result)
    });
    Some(Rewrite::one(rewriter.emit(OpKind::Binary(BinaryOp::Multiply), &[lhs, rhs], result)))
}
