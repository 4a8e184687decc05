//! Closed bodies: reductions, scatters and sorts use no values from outside, so that the engine can compile each body
//! separately. Loops and branches get copies of the constants that they use, where these cost nothing: scalars, and
//! arrays of one number that only element-wise ops read.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{Module, Op, OpKind, Region, Type, ValueId};
use oxcall_kernels::math::is_element_wise;

use super::ir::{Mapping, Rewrite, Rewriter, clone_op, is_pure, remap_operands, rewrite};

/// The largest number of ops from which a captured value may be computed for its ops to be copied into the body.
const CLONED_OPS: usize = 32;

/// Copies captured constants into bodies, and makes other captured scalars operands.
///
/// # Errors
/// UNIMPLEMENTED for captured values that cannot be operands.
pub(crate) fn close_bodies(module: &mut Module) -> Result<(), Error> {
    rewrite(module, |rewriter, mut op| {
        if matches!(op.kind, OpKind::While | OpKind::If | OpKind::Case) {
            let mut regions = std::mem::take(&mut op.regions);
            regions.iter_mut().for_each(|region| drop(clone_constants(rewriter, region, 1)));
            op.regions = regions;
        }
        if has_body(&op.kind) {
            let mut regions = std::mem::take(&mut op.regions);
            let mut captured = Vec::new();
            for region in &mut regions {
                captured.extend(clone_constants(rewriter, region, CLONED_OPS));
            }
            op.regions = regions;
            captured.dedup();
            for value in captured {
                lift(rewriter, &mut op, value)?;
            }
        }
        Ok(Rewrite::Keep(op))
    })?;
    Ok(())
}

/// Whether the regions of an op are applied to elements.
fn has_body(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Reduce { .. }
            | OpKind::ReduceWindow { .. }
            | OpKind::Scatter { .. }
            | OpKind::SelectAndScatter { .. }
            | OpKind::Sort { .. }
            | OpKind::AllReduce(_)
            | OpKind::CollectiveReduce(_)
            | OpKind::ReduceScatter { .. }
    )
}

/// Copies the outside values that `region` uses to its start, where they are scalars computed from constants by at most
/// `limit` ops. Returns the other values.
fn clone_constants(rewriter: &mut Rewriter<'_>, region: &mut Region, limit: usize) -> Vec<ValueId> {
    let mut copies = Vec::new();
    let mut left = Vec::new();
    let mut names = Mapping::default();
    let read_as_arrays = read_as_arrays(region);
    for value in Region::free_values(std::slice::from_ref(region)) {
        let mut ops = Vec::new();
        let is_scalar = rewriter.ty(value).tensor().is_some_and(|ty| ty.rank() == 0);
        let is_free = is_scalar || is_splat(rewriter, value) && !read_as_arrays.contains(&value);
        if is_free && constant_chain(rewriter, value, limit, &mut ops) {
            for op in ops {
                if names.get(op.results[0]) == op.results[0] {
                    copies.push(clone_op(&op, rewriter.values(), &mut names));
                }
            }
        } else {
            left.push(value);
        }
    }
    if !copies.is_empty() {
        remap_operands(region, &|value| names.get(value));
        copies.append(&mut region.ops);
        region.ops = copies;
    }
    left
}

/// The values of which an op of the region that is not element-wise, one in a region of its own, or the region's end
/// needs the array. Element-wise ops take a constant of equal elements as a number.
fn read_as_arrays(region: &Region) -> HashSet<ValueId> {
    let mut read: HashSet<ValueId> = region.results.iter().copied().collect();
    for op in &region.ops {
        if !is_element_wise(&op.kind) {
            read.extend(&op.operands);
        }
        read.extend(Region::free_values(&op.regions));
    }
    read
}

/// Whether `value` is a constant of equal elements.
fn is_splat(rewriter: &Rewriter<'_>, value: ValueId) -> bool {
    let is_splat = |op: &Op| matches!(&op.kind, OpKind::Constant(literal) if literal.splat_element().is_some());
    rewriter.def(value).is_some_and(is_splat)
}

/// Whether `value` is computed from constants by at most `limit` ops, which are then left in `ops`, in order.
fn constant_chain(rewriter: &Rewriter<'_>, value: ValueId, limit: usize, ops: &mut Vec<Op>) -> bool {
    if ops.iter().any(|op| op.results.contains(&value)) {
        return true;
    }
    let Some(op) = rewriter.def(value) else { return false };
    if limit == 0 || op.results.len() != 1 || !op.regions.is_empty() || !is_pure(op) {
        return false;
    }
    let op = op.clone();
    let closed = op.operands.iter().all(|&operand| constant_chain(rewriter, operand, limit - 1, ops));
    ops.push(op);
    closed && ops.len() <= CLONED_OPS
}

/// Makes `value`, which the body of `op` captures, an operand: a tensor whose elements are all `value`. If the body
/// combines elements, it combines two of these to the same value.
fn lift(rewriter: &mut Rewriter<'_>, op: &mut Op, value: ValueId) -> Result<(), Error> {
    let element = match rewriter.ty(value) {
        Type::Tensor(ty) if ty.rank() == 0 => ty.element,
        ty => {
            let message = format!("its body captures a value of type {ty}; only scalars can be captured");
            return Err(Error::unimplemented(message));
        }
    };
    let count = op.results.len();
    let first = rewriter.tensor(op.operands[0]).clone();
    let full = rewriter.broadcast(value, &[], &first);
    let [left, right] = std::array::from_fn(|_| rewriter.value(rewriter.ty(value).clone()));
    let body = &mut op.regions[0];
    remap_operands(body, &|used| if used == value { left } else { used });
    let result = match op.kind {
        OpKind::Sort { .. } => {
            op.operands.push(full);
            body.params.extend([left, right]);
            first.with_element(element)
        }
        OpKind::Reduce { .. } | OpKind::ReduceWindow { .. } | OpKind::Scatter { .. } => {
            let ty = rewriter.tensor(op.results[0]).with_element(element);
            let last = match op.kind {
                OpKind::Scatter { .. } => {
                    let updates = rewriter.tensor(op.operands[count + 1]).clone();
                    rewriter.broadcast(value, &[], &updates)
                }
                _ => value,
            };
            op.operands.insert(count, full);
            op.operands.push(last);
            body.params.insert(count, left);
            body.params.push(right);
            body.results.push(left);
            ty
        }
        _ => return Err(Error::unimplemented("its bodies capture a value that is not a constant")),
    };
    let result = rewriter.value(result.into());
    op.results.push(result);
    Ok(())
}
