//! Reductions of dimensions that are not neighbours, as several reductions of neighbours.
//!
//! The mean of a group of channels sums over positions and over the channels of the group, with other groups between:
//! no vector, and no row, has elements of one sum only. Sums over positions come first, in vectors of all channels.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, Literal, Module, Op, OpKind, Region, TensorType, Type, ValueId};

use super::ir::{Rewrite, Rewriter, rewrite};
use super::short::function;

/// The fewest elements for which two reductions take less time than one.
const FEWEST: usize = 2048;

/// The fewest elements of a row that is reduced before the dimensions before it.
const LONG_ROW: usize = 64;

/// Splits reductions. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn reductions(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, op| {
        Ok(match split(rewriter, &op) {
            Some(value) => Rewrite::one(value),
            None => Rewrite::Keep(op),
        })
    })
}

fn split(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<ValueId> {
    let OpKind::Reduce { dims } = &op.kind else { return None };
    let &[operand, init] = &op.operands[..] else { return None };
    let ty = rewriter.tensor(operand).clone();
    let function = function(op, &ty)?;
    first(&ty, dims)?;
    let identity = match function {
        BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::And | BinaryOp::Or => init,
        BinaryOp::Add | BinaryOp::Xor => {
            let zero = vec![0; ty.element.byte_width()];
            rewriter.constant(Literal::splat(TensorType::scalar(ty.element), zero))
        }
        _ => return None,
    };
    let (mut value, mut dims) = (operand, dims.clone());
    while let Some(first) = first(rewriter.tensor(value), &dims) {
        // The place of each other dimension once these are gone.
        dims.retain(|dim| !first.contains(dim));
        dims.iter_mut().for_each(|dim| *dim -= first.iter().filter(|each| *each < dim).count());
        value = reduce(rewriter, value, identity, function, first);
    }
    Some(reduce(rewriter, value, init, function, dims))
}

/// The dimensions to reduce first: neighbours, beside dimensions of size 1; `None` if all are neighbours, or few.
fn first(ty: &TensorType, dims: &[usize]) -> Option<Vec<usize>> {
    if ty.checked_count().is_none_or(|count| count < FEWEST) {
        return None;
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut is_open = false;
    for dim in (0..ty.rank()).filter(|&dim| ty.dims[dim] != 1) {
        let is_reduced = dims.contains(&dim);
        match groups.last_mut() {
            Some(group) if is_reduced && is_open => group.push(dim),
            _ if is_reduced => groups.push(vec![dim]),
            _ => {}
        }
        is_open = is_reduced;
    }
    let size = |group: &[usize]| group.iter().map(|&dim| ty.dims[dim]).product::<usize>();
    // A short row at the end is no vector, and comes last.
    if groups.len() > 1 && is_open && groups.last().is_some_and(|group| size(group) < LONG_ROW) {
        groups.pop();
        return groups.into_iter().rev().max_by_key(|group| size(group));
    }
    if groups.len() < 2 { None } else { groups.into_iter().rev().max_by_key(|group| size(group)) }
}

/// A value reduced along dimensions.
pub(super) fn reduce(
    rewriter: &mut Rewriter<'_>,
    value: ValueId,
    init: ValueId,
    function: BinaryOp,
    dims: Vec<usize>,
) -> ValueId {
    let ty = rewriter.tensor(value).clone();
    let scalar = Type::Tensor(TensorType::scalar(ty.element));
    let [lhs, rhs, both] = std::array::from_fn(|_| rewriter.value(scalar.clone()));
    let location = rewriter.location();
    let (operands, results) = (vec![lhs, rhs], vec![both]);
    let body = Op { kind: OpKind::Binary(function), operands, results, regions: Vec::new(), location };
    let body = Region { params: vec![lhs, rhs], ops: vec![body], results: vec![both] };
    let kept: Vec<usize> = (0..ty.rank()).filter(|dim| !dims.contains(dim)).map(|dim| ty.dims[dim]).collect();
    let result = rewriter.value(TensorType::new(ty.element, kept).into());
    let (operands, results) = (vec![value, init], vec![result]);
    rewriter.push(Op { kind: OpKind::Reduce { dims }, operands, results, regions: vec![body], location });
    result
}
