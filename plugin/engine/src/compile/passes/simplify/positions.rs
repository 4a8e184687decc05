//! Integer arithmetic on positions: upper bounds, and narrower types. JAX's random-number counters are 64-bit positions
//! whose upper half is 0.

use oxcall_hlo::{BinaryOp, ElementType, Literal, OpKind, TensorType, ValueId};

use super::super::ir::Rewriter;
use super::integer::constant;
use super::{Simpler, zeros};

/// The most ops that a rule looks at.
const FUEL: u32 = 32;

/// The largest number of a type of at least 8 bits.
fn limit(element: ElementType) -> Option<u64> {
    let digits = element.bits() - usize::from(element.is_signed());
    (element.is_integer() && element.bits() >= 8).then(|| u64::MAX >> (64 - digits))
}

/// An upper bound on the elements of `value`, none of which is negative; `None` if no such bound is known.
fn most(rewriter: &Rewriter<'_>, value: ValueId, fuel: &mut u32) -> Option<u64> {
    *fuel = fuel.checked_sub(1)?;
    let ty = rewriter.tensor(value);
    let limit = limit(ty.element)?;
    let def = rewriter.def(value)?;
    let [first, second] = [0, 1].map(|index| def.operands.get(index).copied());
    let most = match def.kind {
        OpKind::Constant(_) => u64::try_from(constant(rewriter, value)?).ok()?,
        OpKind::Iota { dim } => (ty.dims[dim] as u64).saturating_sub(1),
        OpKind::Convert
        | OpKind::BroadcastInDim { .. }
        | OpKind::Reshape
        | OpKind::Transpose { .. }
        | OpKind::Slice { .. } => most(rewriter, first?, fuel)?,
        OpKind::Binary(BinaryOp::Add) => most(rewriter, first?, fuel)?.checked_add(most(rewriter, second?, fuel)?)?,
        OpKind::Binary(BinaryOp::Multiply) => {
            most(rewriter, first?, fuel)?.checked_mul(most(rewriter, second?, fuel)?)?
        }
        OpKind::Binary(BinaryOp::And) => u64::try_from(constant(rewriter, second?)?).ok()?,
        _ => return None,
    };
    (most <= limit).then_some(most)
}

/// Quotients and remainders of numbers that are less than the divisor, and sums of what is the same for all elements.
pub(super) fn binary(
    rewriter: &mut Rewriter<'_>,
    op: BinaryOp,
    lhs: ValueId,
    rhs: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    let is_less = |divisor: u64| most(rewriter, lhs, &mut { FUEL }).is_some_and(|most| most < divisor);
    let number = u64::try_from(constant(rewriter, rhs)?).ok()?;
    match op {
        BinaryOp::ShiftRightLogical => {
            let divisor = 1_u64.checked_shl(u32::try_from(number).ok()?)?;
            is_less(divisor).then(|| Simpler::Constant(zeros(ty)))
        }
        BinaryOp::Divide => is_less(number).then(|| Simpler::Constant(zeros(ty))),
        BinaryOp::Remainder => is_less(number).then_some(Simpler::Value(lhs)),
        BinaryOp::Add => sum(rewriter, lhs, rhs, ty),
        _ => None,
    }
}

/// `(x + y) + c`, where `y` is one number and `c` a constant: `x + (y + c)`, one sum for all elements.
fn sum(rewriter: &mut Rewriter<'_>, sum: ValueId, constant: ValueId, ty: &TensorType) -> Option<Simpler> {
    let inner = rewriter.def(sum).filter(|def| def.kind == OpKind::Binary(BinaryOp::Add))?;
    let [x, y] = inner.operands[..] else { return None };
    let number = |value: ValueId| {
        let def = rewriter.def(value).filter(|def| matches!(def.kind, OpKind::BroadcastInDim { .. }))?;
        (rewriter.tensor(def.operands[0]).count() == 1 && ty.count() > 1).then_some((def.kind.clone(), def.operands[0]))
    };
    let (x, (broadcast, y)) = number(y).map(|y| (x, y)).or_else(|| number(x).map(|x| (y, x)))?;
    let literal = rewriter.literal(constant)?;
    let bytes = literal.splat_element()?.to_vec();
    let constant = rewriter.splat_like(y, bytes);
    let y = rewriter.emit_like(OpKind::Binary(BinaryOp::Add), &[y, constant]);
    let y = rewriter.emit(broadcast, &[y], ty.clone());
    Some(Simpler::Op(OpKind::Binary(BinaryOp::Add), vec![x, y]))
}

/// A conversion to fewer bits, of sums and products of positions and constants: these in fewer bits.
pub(super) fn convert(rewriter: &mut Rewriter<'_>, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    let from = limit(rewriter.tensor(operand).element)?;
    let element = ty.element;
    if limit(element)? >= from || !is_narrow(rewriter, operand, element, &mut { FUEL }) {
        return None;
    }
    narrowed(rewriter, operand, element).map(Simpler::Value)
}

/// Whether arithmetic in the narrower type `element` gives the low bits of `value`.
fn is_narrow(rewriter: &Rewriter<'_>, value: ValueId, element: ElementType, fuel: &mut u32) -> bool {
    let Some(left) = fuel.checked_sub(1) else { return false };
    *fuel = left;
    let Some(def) = rewriter.def(value) else { return false };
    match &def.kind {
        OpKind::Constant(literal) => literal.splat_element().is_some(),
        OpKind::Iota { .. } => {
            limit(element).is_some_and(|limit| most(rewriter, value, fuel).is_some_and(|most| most <= limit))
        }
        OpKind::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply) => {
            def.operands.iter().all(|&operand| is_narrow(rewriter, operand, element, fuel))
        }
        _ => false,
    }
}

/// Emits the ops that compute the low bits of a value.
fn narrowed(rewriter: &mut Rewriter<'_>, value: ValueId, element: ElementType) -> Option<ValueId> {
    let ty = rewriter.tensor(value).with_element(element);
    let def = rewriter.def(value)?;
    let (kind, operands) = (def.kind.clone(), def.operands.clone());
    if let OpKind::Constant(literal) = kind {
        let low = literal.splat_element()?[..element.byte_width()].to_vec();
        return Some(rewriter.constant(Literal::splat(ty, low)));
    }
    let operands = operands.into_iter().map(|operand| narrowed(rewriter, operand, element));
    let operands: Vec<ValueId> = operands.collect::<Option<_>>()?;
    Some(rewriter.emit(kind, &operands, ty))
}
