//! Products of matrices that sum nothing, as products of elements, and those of vectors that are columns.

use oxcall_hlo::{BinaryOp, DotDims, Op, OpKind, TensorType, ValueId};

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

/// Makes rows of the vectors of a batch that are columns: a kernel that adds the products of one vector after another
/// would read each element from another line of the cache. `None` if that changes nothing.
pub(super) fn of_rows(rewriter: &mut Rewriter<'_>, op: &Op, dims: &DotDims) -> Option<Op> {
    let sides = [(&dims.lhs_batching, &dims.lhs_contracting), (&dims.rhs_batching, &dims.rhs_contracting)];
    let batches = dims.lhs_batching.len();
    let rank = batches + dims.lhs_contracting.len();
    let sizes = |dims: &[usize]| dims.iter().map(|&dim| rewriter.tensor(op.operands[0]).dims[dim]).product::<usize>();
    let is_long = sizes(&dims.lhs_batching) >= FEWEST && sizes(&dims.lhs_contracting) >= FEWEST;
    if !is_long || op.operands.iter().any(|&operand| rewriter.tensor(operand).rank() != rank) {
        return None;
    }
    // Columns are apart where the last dimension is one of batches.
    let is_of_columns = |(batching, _): &(&Vec<usize>, &Vec<usize>)| batching.contains(&(rank - 1));
    if !sides.iter().any(is_of_columns) {
        return None;
    }
    let mut op = op.clone();
    for (operand, side) in op.operands.iter_mut().zip(&sides) {
        let permutation: Vec<usize> = side.0.iter().chain(side.1).copied().collect();
        let from = rewriter.tensor(*operand).clone();
        let ty = TensorType { dims: permutation.iter().map(|&dim| from.dims[dim]).collect(), ..from };
        *operand = rewriter.emit(OpKind::Transpose { permutation }, &[*operand], ty);
    }
    let (batching, contracting): (Vec<usize>, Vec<usize>) = ((0..batches).collect(), (batches..rank).collect());
    op.kind = OpKind::DotGeneral(DotDims {
        lhs_batching: batching.clone(),
        rhs_batching: batching,
        lhs_contracting: contracting.clone(),
        rhs_contracting: contracting,
        ..dims.clone()
    });
    Some(op)
}

/// The fewest vectors, and elements of each, for which it is worth a transpose.
const FEWEST: usize = 8;
