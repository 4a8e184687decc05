//! Integers that are computed from positions: what they are at most, and the same in fewer bits. JAX's counters of
//! random numbers are positions in 64 bits, of which the upper half is 0.

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

/// A number that no element of `value` is greater than, if no element is negative; `None` if there is none such known.
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
    let is_less = |divisor: u64| most(rewriter, lhs, &mut FUEL.clone()).is_some_and(|most| most < divisor);
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
    let one = rewriter.tensor(y).clone();
    let constant = rewriter.constant(Literal::splat(one.clone(), bytes));
    let y = rewriter.emit(OpKind::Binary(BinaryOp::Add), &[y, constant], one);
    let y = rewriter.emit(broadcast, &[y], ty.clone());
    Some(Simpler::Op(OpKind::Binary(BinaryOp::Add), vec![x, y]))
}

/// A conversion to fewer bits, of sums and products of positions and constants: these in fewer bits.
pub(super) fn convert(rewriter: &mut Rewriter<'_>, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    let from = limit(rewriter.tensor(operand).element)?;
    let element = ty.element;
    if limit(element)? >= from || !is_narrow(rewriter, operand, element, &mut FUEL.clone()) {
        return None;
    }
    Some(match narrowed(rewriter, operand, element)? {
        Narrowed::Op(kind, operands) => Simpler::Op(kind, operands),
        Narrowed::Constant(literal) => Simpler::Constant(literal),
    })
}

/// Whether the low bits of a value can be computed in a narrower type.
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

enum Narrowed {
    Op(OpKind, Vec<ValueId>),
    Constant(Literal),
}

/// The op that computes the low bits of a value, after those of its operands.
fn narrowed(rewriter: &mut Rewriter<'_>, value: ValueId, element: ElementType) -> Option<Narrowed> {
    let ty = rewriter.tensor(value).with_element(element);
    let def = rewriter.def(value)?;
    let (kind, operands) = (def.kind.clone(), def.operands.clone());
    if let OpKind::Constant(literal) = kind {
        let low = literal.splat_element()?[..element.byte_width()].to_vec();
        return Some(Narrowed::Constant(Literal::splat(ty, low)));
    }
    let operands = operands.into_iter().map(|operand| {
        Some(match narrowed(rewriter, operand, element)? {
            Narrowed::Op(kind, operands) => rewriter.emit(kind, &operands, ty.clone()),
            Narrowed::Constant(literal) => rewriter.constant(literal),
        })
    });
    Some(Narrowed::Op(kind, operands.collect::<Option<_>>()?))
}
