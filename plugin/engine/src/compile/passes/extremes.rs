//! `argmax` and `argmin` over a few elements as element-wise ops.
//!
//! The reduction takes an array of values and one of their indices, as large as the values. Slices along the reduced
//! dimension have one index each: a comparison and two selections join a slice with those before it, and no indices are
//! read from memory. Rows in memory stay what they are: their slices would be a transpose.

use oxcall::Error;
use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, Literal, Module, Op, OpKind, UnaryOp, ValueId,
};
use oxcall_kernels::scalar::{self, Body};

use super::identity;
use super::ir::{Rewriter, is_elementwise};
use super::short::{self, FEWEST, Uses};

/// The most elements of a reduction.
const LONGEST: usize = 16;

/// Replaces such reductions. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn short(module: &mut Module) -> Result<bool, Error> {
    short::replace(module, |rewriter, op, uses| Some(unrolled(rewriter, op, uses)?.into_iter().collect()))
}

/// The extreme values, and their indices, if `op` is a short `argmax` or `argmin` of positions.
fn unrolled(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<[ValueId; 2]> {
    let OpKind::Reduce { dims } = &op.kind else { return None };
    let (&[dim], &[operand, indices, init, init_index]) = (&dims[..], &op.operands[..]) else { return None };
    let ty = rewriter.tensor(operand).clone();
    let [result, index_result] = [0, 1].map(|index| rewriter.tensor(op.results[index]).clone());
    let is_short = (2..=LONGEST).contains(&ty.dims[dim]) && result.checked_count().is_some_and(|n| n >= FEWEST);
    let is_position = rewriter.def(indices).is_some_and(|def| matches!(def.kind, OpKind::Iota { dim: d } if d == dim));
    // Rows of what is in memory are searched where they are.
    let is_row = dim + 1 == ty.rank() && !rewriter.def(operand).is_some_and(|def| is_elementwise(&def.kind));
    if !is_short || !is_position || is_row {
        return None;
    }
    let (better, function) = match scalar::idiom(rewriter.values(), &op.regions[0])? {
        Body::ArgMax => (ComparisonDirection::Gt, BinaryOp::Maximum),
        Body::ArgMin => (ComparisonDirection::Lt, BinaryOp::Minimum),
        _ => return None,
    };
    // Any element comes before the identity, or is equal to it and has no lower index.
    let worst = identity::bytes(function, ty.element)?;
    let first = rewriter.literal(init_index)?.splat_element()?.iter().all(|&byte| byte == 0);
    if rewriter.literal(init)?.splat_element()? != worst || !first {
        return None;
    }
    let mut slices = short::slices(rewriter, uses, operand, dim)?.into_iter();
    let position = |rewriter: &mut Rewriter<'_>, index: usize| {
        let element = &index.to_le_bytes()[..index_result.element.byte_width()];
        rewriter.constant(Literal::splat(index_result.clone(), element))
    };
    let mut found = [slices.next()?, position(rewriter, 0)];
    for (index, slice) in (1..).zip(slices) {
        let taken = comes_before(rewriter, better, [slice, found[0]]);
        let index = position(rewriter, index);
        found = [(slice, found[0]), (index, found[1])].map(|(new, old)| {
            let ty = rewriter.tensor(old).clone();
            rewriter.emit(OpKind::Select, &[taken, new, old], ty)
        });
    }
    Some(found)
}

/// Whether a later element takes the place of an earlier one: it is better, or it is the first NaN.
fn comes_before(rewriter: &mut Rewriter<'_>, better: ComparisonDirection, [new, old]: [ValueId; 2]) -> ValueId {
    use ComparisonDirection::{Eq, Ge, Gt, Le};
    let ty = rewriter.tensor(new).clone();
    let kind = if ty.element.is_float() { ComparisonType::Float } else { ComparisonType::NoType };
    let compare = |rewriter: &mut Rewriter<'_>, direction, operands: [ValueId; 2]| {
        rewriter.emit(OpKind::Compare(direction, kind), &operands, ty.with_element(ElementType::Pred))
    };
    if kind == ComparisonType::NoType {
        return compare(rewriter, better, [new, old]);
    }
    let not_better = compare(rewriter, if better == Gt { Le } else { Ge }, [new, old]);
    let taken = rewriter.emit_like(OpKind::Unary(UnaryOp::Not), &[not_better]);
    let was_number = compare(rewriter, Eq, [old, old]);
    rewriter.emit_like(OpKind::Binary(BinaryOp::And), &[taken, was_number])
}
