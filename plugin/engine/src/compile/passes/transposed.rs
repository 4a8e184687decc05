//! Products whose operand, or whose result, is transposed: products along other dimensions.
//!
//! `dot(transpose(x), y)` contracts another dimension of `x`, and `transpose(dot(x, y))` is `dot(y, x)`. The gradient
//! of a layer's weights is both. Operands on the right of many rows stay as they are: their copy, whose rows are dense,
//! is what a product would make of them. A few rows are multiplied with columns where they are.

use oxcall::Error;
use oxcall_hlo::{DotDims, Func, Module, Op, OpKind, Region, TensorType, ValueId};
use oxcall_kernels::kernels::dot::reads_rows;
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
    let mut readers = Uses::new();
    let main = module.main();
    count_readers(main, &main.body, &mut readers);
    short::replace(module, |rewriter, op, uses| {
        let value = of_transposed(rewriter, op, [uses, &readers]).or_else(|| transposed(rewriter, op, uses))?;
        Some(smallvec![value])
    })
}

/// Counts, for each value, the products that may read it along another dimension, in `region` and in the regions of its
/// ops.
fn count_readers(func: &Func, region: &Region, readers: &mut Uses) {
    for op in &region.ops {
        if let (OpKind::DotGeneral(dims), &[lhs, rhs]) = (&op.kind, &op.operands[..])
            && lhs != rhs
        {
            *readers.entry(lhs).or_default() += 1;
            let types = func.ty(lhs).tensor().zip(func.ty(rhs).tensor());
            if types.is_some_and(|(lhs, rhs)| has_few_rows(dims, lhs, rhs)) {
                *readers.entry(rhs).or_default() += 1;
            }
        }
        op.regions.iter().for_each(|region| count_readers(func, region, readers));
    }
}

/// Whether the product reads the right operand in place, because the left one has only a few rows.
fn has_few_rows(dims: &DotDims, lhs: &TensorType, rhs: &TensorType) -> bool {
    let free = free(lhs.rank(), &dims.lhs_batching, &dims.lhs_contracting);
    let rows = free.iter().map(|&dim| lhs.dims[dim]).product();
    dims.lhs_batching.is_empty() && reads_rows(rhs.byte_size(), rows)
}

/// Whether a product multiplies floats or complex numbers and adds at least [`FEWEST`] terms for each result.
fn is_long(dims: &DotDims, lhs: &TensorType) -> bool {
    let terms: usize = dims.lhs_contracting.iter().map(|&dim| lhs.dims[dim]).product();
    terms >= FEWEST && (lhs.element.is_float() || lhs.element.is_complex())
}

/// The dimensions of an operand that are neither contracted nor batches.
fn free(rank: usize, batching: &[usize], contracting: &[usize]) -> Vec<usize> {
    (0..rank).filter(|dim| !batching.contains(dim) && !contracting.contains(dim)).collect()
}

/// The product that reads the source of a transposed operand instead.
fn of_transposed(rewriter: &mut Rewriter<'_>, op: &Op, counts: [&Uses; 2]) -> Option<ValueId> {
    let (OpKind::DotGeneral(dims), &[lhs, rhs]) = (&op.kind, &op.operands[..]) else { return None };
    // The rows of batches were columns.
    let are_vectors = rewriter.tensor(op.results[0]).rank() == dims.lhs_batching.len();
    if !is_long(dims, rewriter.tensor(lhs)) || are_vectors {
        return None;
    }
    let (operands, dims) = if let Some((source, [batching, contracting])) =
        source(rewriter, lhs, [&dims.lhs_batching, &dims.lhs_contracting], counts)
    {
        ([source, rhs], DotDims { lhs_batching: batching, lhs_contracting: contracting, ..dims.clone() })
    } else if has_few_rows(dims, rewriter.tensor(lhs), rewriter.tensor(rhs)) {
        let of_rhs = [&dims.rhs_batching[..], &dims.rhs_contracting];
        let (source, [batching, contracting]) = source(rewriter, rhs, of_rhs, counts)?;
        ([lhs, source], DotDims { rhs_batching: batching, rhs_contracting: contracting, ..dims.clone() })
    } else {
        return None;
    };
    let result = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(OpKind::DotGeneral(dims), &operands, result))
}

/// The source of a transposed operand that only such products read, with the source's batching and contracting
/// dimensions.
fn source(
    rewriter: &Rewriter<'_>,
    operand: ValueId,
    [batching, contracting]: [&[usize]; 2],
    [uses, readers]: [&Uses; 2],
) -> Option<(ValueId, [Vec<usize>; 2])> {
    let (OpKind::Transpose { permutation }, &[source]) =
        rewriter.def(operand).map(|op| (&op.kind, &op.operands[..]))?
    else {
        return None;
    };
    // For anything else it would be there anyway, and its rows are dense.
    if !rewriter.is_local(operand) || uses.get(&operand) != readers.get(&operand) {
        return None;
    }
    let moved = |dims: &[usize]| dims.iter().map(|&dim| permutation[dim]).collect::<Vec<usize>>();
    let free = free(permutation.len(), batching, contracting);
    // The result has the free dimensions in their order.
    moved(&free).is_sorted().then(|| (source, [moved(batching), moved(contracting)]))
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
