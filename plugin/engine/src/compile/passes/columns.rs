//! Products of vectors and of matrices that do not change in a loop, by columns.
//!
//! A product by rows adds up the lanes of vectors for each of its results; one by columns adds multiples of whole
//! vectors. So the matrix is transposed once, before the loop.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{DotDims, Module, Op, OpKind, Region, TensorType, ValueId};

use super::ir::{Rewrite, Rewriter, rewrite};

/// The fewest results for each vector: fewer are single numbers.
const FEWEST: usize = 4;

/// The most elements of a row: the longer it is, the less adding up its lanes counts, and the more iterations it takes
/// to save the time that transposing the matrix took. With this many, that is about ten.
const LONGEST: usize = 64;

/// The most elements of all matrices.
const MOST: usize = 1 << 16;

/// Transposes matrices before loops. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn products(module: &mut Module) -> Result<bool, Error> {
    let mut any = false;
    rewrite(module, |rewriter, mut op| {
        if op.kind == OpKind::While {
            op.regions.iter_mut().for_each(|region| any |= transpose(rewriter, region));
        }
        Ok(Rewrite::Keep(op))
    })?;
    Ok(any)
}

/// Transposes the matrices from outside of a region of the op being rewritten.
fn transpose(rewriter: &mut Rewriter<'_>, region: &mut Region) -> bool {
    let mut inside: HashSet<ValueId> = region.params.iter().copied().collect();
    let mut any = false;
    for op in &mut region.ops {
        any |= [0, 1].into_iter().any(|side| by_columns(rewriter, op, side, &inside).is_some());
        inside.extend(&op.results);
    }
    any
}

/// Makes `op` a product by columns, if it is one by rows whose matrix is the operand `side`.
fn by_columns(rewriter: &mut Rewriter<'_>, op: &mut Op, side: usize, inside: &HashSet<ValueId>) -> Option<()> {
    let OpKind::DotGeneral(dims) = &mut op.kind else { return None };
    let (matrix, vector) = (op.operands[side], op.operands[1 - side]);
    if inside.contains(&matrix) {
        return None;
    }
    let DotDims { lhs_batching, rhs_batching, lhs_contracting, rhs_contracting, .. } = dims;
    let [(batching, contracting), (_, other_contracting)] = if side == 0 {
        [(lhs_batching, lhs_contracting), (rhs_batching, rhs_contracting)]
    } else {
        [(rhs_batching, rhs_contracting), (lhs_batching, lhs_contracting)]
    };
    let (ty, other) = (rewriter.tensor(matrix).clone(), rewriter.tensor(vector));
    let count = ty.checked_count()?;
    let batches: usize = batching.iter().map(|&dim| ty.dims[dim]).product();
    let sum: usize = other_contracting.iter().map(|&dim| other.dims[dim]).product();
    let (&[contracted], true) = (&contracting[..], other.checked_count()? == batches * sum) else { return None };
    let is_by_row = contracted + 1 == ty.rank() && (2..=LONGEST).contains(&sum);
    if !is_by_row || count > MOST || count < FEWEST * batches * sum {
        return None;
    }
    let is_free = |dim: &usize| !batching.contains(dim) && *dim != contracted;
    let free: Vec<usize> = (0..ty.rank()).filter(is_free).collect();
    let permutation: Vec<usize> = batching.iter().copied().chain([contracted]).chain(free).collect();
    let transposed = TensorType::new(ty.element, permutation.iter().map(|&dim| ty.dims[dim]));
    *batching = (0..batching.len()).collect();
    *contracting = vec![batching.len()];
    op.operands[side] = rewriter.emit(OpKind::Transpose { permutation }, &[matrix], transposed);
    Some(())
}
