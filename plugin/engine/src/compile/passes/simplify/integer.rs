//! Identities of divisions and comparisons of integers by constants, such as those of quotients that are rounded down.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ComparisonType, Literal, OpKind, UnaryOp, ValueId};

use super::super::ir::Rewriter;
use super::{Simpler, splat};

/// The integer of which each element of `value` is one; `None` for other types.
pub(super) fn constant(rewriter: &Rewriter<'_>, value: ValueId) -> Option<i128> {
    let element = rewriter.tensor(value).element;
    if !element.is_integer() || element.bits() < 8 {
        return None;
    }
    let bytes = splat(rewriter, value)?;
    let is_negative = element.is_signed() && bytes.last()? >> 7 == 1;
    let mut whole = [if is_negative { 0xff } else { 0 }; 16];
    whole[..bytes.len()].copy_from_slice(bytes);
    Some(i128::from_le_bytes(whole))
}

/// The op on `value` and a constant of its type.
fn with(rewriter: &Rewriter<'_>, kind: OpKind, value: ValueId, number: i128) -> Option<Simpler> {
    let ty = rewriter.tensor(value).clone();
    let bytes = number.to_le_bytes()[..ty.element.byte_width()].to_vec();
    Some(Simpler::WithConstant(kind, value, Literal::splat(ty, bytes)))
}

/// A comparison of a value with a constant.
#[derive(Clone, Copy)]
struct Comparison {
    direction: ComparisonDirection,
    value: ValueId,
    number: i128,
}

impl Comparison {
    fn of(rewriter: &Rewriter<'_>, value: ValueId) -> Option<Comparison> {
        let def = rewriter.def(value)?;
        let OpKind::Compare(direction, _) = def.kind else { return None };
        Some(Comparison { direction, value: def.operands[0], number: constant(rewriter, def.operands[1])? })
    }

    fn is_true_of(self, number: i128) -> bool {
        match self.direction {
            ComparisonDirection::Eq => number == self.number,
            ComparisonDirection::Ne => number != self.number,
            ComparisonDirection::Ge => number >= self.number,
            ComparisonDirection::Gt => number > self.number,
            ComparisonDirection::Le => number <= self.number,
            ComparisonDirection::Lt => number < self.number,
        }
    }
}

fn compared(direction: ComparisonDirection) -> OpKind {
    OpKind::Compare(direction, ComparisonType::NoType)
}

/// The dividend and the divisor, a constant other than 0, if `value` is a quotient or a remainder.
fn division(rewriter: &Rewriter<'_>, op: BinaryOp, value: ValueId) -> Option<(ValueId, i128)> {
    let def = rewriter.def(value).filter(|def| def.kind == OpKind::Binary(op))?;
    let divisor = constant(rewriter, def.operands[1]).filter(|&divisor| divisor != 0)?;
    Some((def.operands[0], divisor))
}

pub(super) fn binary(rewriter: &Rewriter<'_>, op: BinaryOp, lhs: ValueId, rhs: ValueId) -> Option<Simpler> {
    if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
        let divisor = constant(rewriter, rhs).filter(|divisor| divisor.count_ones() == 1 && *divisor > 1)?;
        return match op {
            _ if rewriter.tensor(lhs).element.is_signed() => None,
            BinaryOp::Divide => {
                with(rewriter, OpKind::Binary(BinaryOp::ShiftRightLogical), lhs, divisor.trailing_zeros().into())
            }
            _ => with(rewriter, OpKind::Binary(BinaryOp::And), lhs, divisor - 1),
        };
    }
    if !matches!(op, BinaryOp::And | BinaryOp::Or) {
        return None;
    }
    let (left, right) = (Comparison::of(rewriter, lhs)?, Comparison::of(rewriter, rhs)?);
    [(lhs, left, right), (rhs, right, left)]
        .into_iter()
        .find_map(|(value, each, other)| implied(op, value, each, other).or_else(|| signs(rewriter, op, each, other)))
}

/// A comparison that implies that another number is not the constant, or is.
fn implied(op: BinaryOp, value: ValueId, each: Comparison, other: Comparison) -> Option<Simpler> {
    let is_needless = match (op, other.direction) {
        (BinaryOp::And, ComparisonDirection::Ne) => !each.is_true_of(other.number),
        (BinaryOp::Or, ComparisonDirection::Eq) => each.is_true_of(other.number),
        _ => false,
    };
    (is_needless && each.value == other.value).then_some(Simpler::Value(value))
}

/// A remainder that is not 0 has the sign of the dividend.
fn signs(rewriter: &Rewriter<'_>, op: BinaryOp, each: Comparison, other: Comparison) -> Option<Simpler> {
    use ComparisonDirection::{Ge, Gt, Le, Lt, Ne};
    let (dividend, _) = division(rewriter, BinaryOp::Remainder, other.value)?;
    let is_other = op == BinaryOp::And && other.direction == Ne && other.number == 0 && dividend == each.value;
    let direction = match (each.direction, each.number) {
        (Lt, 0 | 1) | (Le, 0 | -1) => Lt,
        (Gt, 0 | -1) | (Ge, 0 | 1) => Gt,
        _ => return None,
    };
    if is_other { with(rewriter, compared(direction), other.value, 0) } else { None }
}

/// Comparisons of signs.
pub(super) fn compare(
    rewriter: &Rewriter<'_>,
    direction: ComparisonDirection,
    lhs: ValueId,
    rhs: ValueId,
) -> Option<Simpler> {
    use ComparisonDirection::{Eq, Gt, Lt, Ne};
    let number = constant(rewriter, rhs).filter(|_| rewriter.tensor(lhs).element.is_signed())?;
    let def = rewriter.def(lhs).filter(|def| def.kind == OpKind::Unary(UnaryOp::Sign))?;
    let (direction, limit) = match (direction, number) {
        (Eq | Ne, 0) => (direction, 0),
        (Eq, 1) => (Gt, 0),
        (Ne, 1) => (Lt, 1),
        (Eq, -1) => (Lt, 0),
        (Ne, -1) => (Gt, -1),
        _ => return None,
    };
    with(rewriter, compared(direction), def.operands[0], limit)
}

/// Quotients that are rounded down, and their remainders, by a power of two.
pub(super) fn select(rewriter: &Rewriter<'_>, operands: &[ValueId]) -> Option<Simpler> {
    let [choice, on_true, on_false] = operands.try_into().ok()?;
    let is_negative = Comparison::of(rewriter, choice)
        .filter(|choice| choice.direction == ComparisonDirection::Lt && choice.number == 0)?;
    let (dividend, divisor) = division(rewriter, BinaryOp::Remainder, is_negative.value)?;
    let (moved, by) = moved(rewriter, on_true)?;
    if divisor.count_ones() != 1 || divisor < 0 || moved != on_false {
        return None;
    }
    if on_false == is_negative.value && by == divisor {
        return with(rewriter, OpKind::Binary(BinaryOp::And), dividend, divisor - 1);
    }
    let is_quotient = division(rewriter, BinaryOp::Divide, on_false) == Some((dividend, divisor)) && by == -1;
    let shift = OpKind::Binary(BinaryOp::ShiftRightArithmetic);
    if is_quotient { with(rewriter, shift, dividend, divisor.trailing_zeros().into()) } else { None }
}

/// A value and the constant that is added to it.
fn moved(rewriter: &Rewriter<'_>, value: ValueId) -> Option<(ValueId, i128)> {
    let def = rewriter.def(value)?;
    let number = constant(rewriter, def.operands.get(1).copied()?)?;
    match def.kind {
        OpKind::Binary(BinaryOp::Add) => Some((def.operands[0], number)),
        OpKind::Binary(BinaryOp::Subtract) => Some((def.operands[0], -number)),
        _ => None,
    }
}
