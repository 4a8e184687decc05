//! Products whose left operand, or whose result, is transposed: products along other dimensions.
//!
//! `dot(transpose(x), y)` contracts another dimension of `x`, and `transpose(dot(x, y))` is `dot(y, x)`. The gradient
//! of a layer's weights is both. Operands on the right stay as they are: their copy, whose rows are dense, is what a
//! product would make of them.

use oxcall::Error;
use oxcall_hlo::{DotDims, Module, Op, OpKind, Region, TensorType, ValueId};
use smallvec::smallvec;

use super::ir::Rewriter;
use super::short::{self, Uses};

/// The fewest products of each sum: others have kernels of their own, for rows that are dense.
const FEWEST: usize = 32;

/// Replaces such products. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn products(module: &mut Module) -> Result<bool, Error> {
    let mut lefts = Uses::new();
    count_lefts(&module.main().body, &mut lefts);
    short::replace(module, |rewriter, op, uses| {
        let value = of_transposed(rewriter, op, [uses, &lefts]).or_else(|| transposed(rewriter, op, uses))?;
        Some(smallvec![value])
    })
}

/// Counts, for each value, the products that take it as their left operand only, in `region` and in the regions of its
/// ops.
fn count_lefts(region: &Region, lefts: &mut Uses) {
    for op in &region.ops {
        if let (OpKind::DotGeneral(_), &[lhs, rhs]) = (&op.kind, &op.operands[..])
            && lhs != rhs
        {
            *lefts.entry(lhs).or_default() += 1;
        }
        op.regions.iter().for_each(|region| count_lefts(region, lefts));
    }
}

/// Whether a product is of floats, and each of its sums has at least [`FEWEST`] products.
fn is_long(dims: &DotDims, lhs: &TensorType) -> bool {
    let terms: usize = dims.lhs_contracting.iter().map(|&dim| lhs.dims[dim]).product();
    terms >= FEWEST && (lhs.element.is_float() || lhs.element.is_complex())
}

/// The dimensions of an operand that are neither contracted nor batches.
fn free(rank: usize, batching: &[usize], contracting: &[usize]) -> Vec<usize> {
    (0..rank).filter(|dim| !batching.contains(dim) && !contracting.contains(dim)).collect()
}

/// A product whose left operand is a transpose, without it.
fn of_transposed(rewriter: &mut Rewriter<'_>, op: &Op, [uses, lefts]: [&Uses; 2]) -> Option<ValueId> {
    let (OpKind::DotGeneral(dims), &[lhs, rhs]) = (&op.kind, &op.operands[..]) else { return None };
    let ty = rewriter.tensor(lhs);
    let (OpKind::Transpose { permutation }, &[source]) = rewriter.def(lhs).map(|op| (&op.kind, &op.operands[..]))?
    else {
        return None;
    };
    // For anything else it would be there anyway, and its rows are dense.
    if !rewriter.is_local(lhs) || uses.get(&lhs) != lefts.get(&lhs) {
        return None;
    }
    let moved = |dims: &[usize]| dims.iter().map(|&dim| permutation[dim]).collect::<Vec<usize>>();
    let free = free(ty.rank(), &dims.lhs_batching, &dims.lhs_contracting);
    // The result has the free dimensions in their order.
    if !is_long(dims, ty) || !moved(&free).is_sorted() {
        return None;
    }
    let dims = DotDims {
        lhs_batching: moved(&dims.lhs_batching),
        lhs_contracting: moved(&dims.lhs_contracting),
        ..dims.clone()
    };
    let result = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(OpKind::DotGeneral(dims), &[source, rhs], result))
}

/// The transpose of a product as the product of its operands in the other order.
fn transposed(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<ValueId> {
    let (OpKind::Transpose { permutation }, &[product]) = (&op.kind, &op.operands[..]) else { return None };
    let (OpKind::DotGeneral(dims), &[lhs, rhs]) = rewriter.def(product).map(|op| (&op.kind, &op.operands[..]))? else {
        return None;
    };
    if !rewriter.is_local(product) || uses.get(&product) != Some(&1) {
        return None;
    }
    let left = rewriter.tensor(lhs);
    let batches = dims.lhs_batching.len();
    let rows = free(left.rank(), &dims.lhs_batching, &dims.lhs_contracting).len();
    let swapped = (0..batches).chain(batches + rows..permutation.len()).chain(batches..batches + rows);
    let is_swap = rows > 0 && rows + batches < permutation.len() && permutation.iter().copied().eq(swapped);
    if !is_swap || !is_long(dims, left) || dims.algorithm.is_some() {
        return None;
    }
    let dims = DotDims {
        lhs_batching: dims.rhs_batching.clone(),
        rhs_batching: dims.lhs_batching.clone(),
        lhs_contracting: dims.rhs_contracting.clone(),
        rhs_contracting: dims.lhs_contracting.clone(),
        precision: dims.precision.iter().rev().copied().collect(),
        algorithm: None,
    };
    let result = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(OpKind::DotGeneral(dims), &[rhs, lhs], result))
}
