//! Identities of arithmetic and logic.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ElementType, Literal, OpKind, TensorType, UnaryOp, ValueId};

use super::super::ir::Rewriter;
use super::{Simpler, splat, zeros};

/// Constants that are the neutral element of some op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// 0, or +0.
    Zero,
    NegativeZero,
    One,
    /// All bits of an integer are set; true.
    Ones,
}

/// The kind of a constant, if a rule uses it. Complex numbers have none: an infinite part breaks otherwise neutral
/// elements.
fn known(rewriter: &Rewriter<'_>, value: ValueId) -> Option<Known> {
    let element = rewriter.tensor(value).element;
    let bytes = splat(rewriter, value)?;
    let is = |pattern: &[u8]| bytes == pattern;
    let float = match element {
        ElementType::F32 => Some((1f32.to_le_bytes().to_vec(), (-0f32).to_le_bytes().to_vec())),
        ElementType::F64 => Some((1f64.to_le_bytes().to_vec(), (-0f64).to_le_bytes().to_vec())),
        ElementType::F16 => Some((vec![0x00, 0x3c], vec![0x00, 0x80])),
        ElementType::BF16 => Some((vec![0x80, 0x3f], vec![0x00, 0x80])),
        _ => None,
    };
    if let Some((one, negative_zero)) = float {
        return match () {
            () if bytes.iter().all(|&byte| byte == 0) => Some(Known::Zero),
            () if is(&one) => Some(Known::One),
            () if is(&negative_zero) => Some(Known::NegativeZero),
            () => None,
        };
    }
    if !element.is_integer() && element != ElementType::Pred {
        return None;
    }
    let all_ones = match element {
        ElementType::Pred => 1,
        _ if element.is_unsigned() && element.bits() < 8 => (1 << element.bits()) - 1,
        _ => 0xff,
    };
    match () {
        () if bytes.iter().all(|&byte| byte == 0) => Some(Known::Zero),
        () if bytes.iter().all(|&byte| byte == all_ones) => Some(Known::Ones),
        () if bytes[0] == 1 && bytes[1..].iter().all(|&byte| byte == 0) => Some(Known::One),
        () => None,
    }
}

pub(super) fn binary(
    rewriter: &Rewriter<'_>,
    op: BinaryOp,
    lhs: ValueId,
    rhs: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    let float = ty.element.is_float();
    let (left, right) = (known(rewriter, lhs), known(rewriter, rhs));
    if op == BinaryOp::Divide
        && let Some(reciprocal) = exact_reciprocal(rewriter, rhs)
    {
        return Some(Simpler::WithConstant(OpKind::Binary(BinaryOp::Multiply), lhs, reciprocal));
    }
    // x + -0 = x for every x, while -0 + +0 = +0.
    let neutral = match op {
        BinaryOp::Add if float => Known::NegativeZero,
        BinaryOp::Add if ty.element == ElementType::Pred => Known::Zero,
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Or | BinaryOp::Xor => Known::Zero,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRightArithmetic | BinaryOp::ShiftRightLogical => Known::Zero,
        BinaryOp::Multiply if ty.element == ElementType::Pred => Known::Ones,
        BinaryOp::Multiply | BinaryOp::Divide => Known::One,
        BinaryOp::And => Known::Ones,
        BinaryOp::Maximum | BinaryOp::Minimum if lhs == rhs => return Some(Simpler::Value(lhs)),
        _ => return None,
    };
    let commutes = matches!(op, BinaryOp::Add | BinaryOp::Multiply | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    if right == Some(neutral) {
        return Some(Simpler::Value(lhs));
    }
    if commutes && left == Some(neutral) {
        return Some(Simpler::Value(rhs));
    }
    if op == BinaryOp::Add && float {
        let is_done = |&(zero, sum): &(_, ValueId)| zero == Some(Known::Zero) && is_never_negative_zero(rewriter, sum);
        if let Some((_, sum)) = [(left, rhs), (right, lhs)].into_iter().find(is_done) {
            return Some(Simpler::Value(sum));
        }
    }
    if matches!(op, BinaryOp::And | BinaryOp::Or) && lhs == rhs {
        return Some(Simpler::Value(lhs));
    }
    // Absorbing elements: for integers and booleans only, since NaN and infinities do not vanish.
    let exact = ty.element.is_integer() || ty.element == ElementType::Pred;
    let absorbing = match op {
        BinaryOp::Multiply | BinaryOp::And => Known::Zero,
        BinaryOp::Or => Known::Ones,
        _ => return None,
    };
    let absorber = [(left, lhs), (right, rhs)].into_iter().find(|(known, _)| *known == Some(absorbing));
    absorber.filter(|_| exact).map(|(_, value)| Simpler::Value(value))
}

/// Whether a value cannot be -0, because it is +0 or a sum with +0: adding +0 again changes nothing.
fn is_never_negative_zero(rewriter: &Rewriter<'_>, value: ValueId) -> bool {
    let is_zero = |&operand: &ValueId| known(rewriter, operand) == Some(Known::Zero);
    let is_sum = || rewriter.def(value).filter(|op| op.kind == OpKind::Binary(BinaryOp::Add));
    is_zero(&value) || is_sum().is_some_and(|op| op.operands.iter().any(is_zero))
}

/// 1 / c, where `value` is a power of two `c` whose reciprocal is a normal number.
fn exact_reciprocal(rewriter: &Rewriter<'_>, value: ValueId) -> Option<Literal> {
    let literal = rewriter.literal(value)?;
    let bytes = splat(rewriter, value)?;
    let reciprocal: Vec<u8> = match literal.ty().element {
        ElementType::F32 => {
            let value = f32::from_le_bytes(bytes.try_into().ok()?);
            let power = value.is_normal() && value.to_bits() & 0x7f_ffff == 0;
            (power && value.recip().is_normal() && value != 1.0).then(|| value.recip().to_le_bytes().to_vec())?
        }
        ElementType::F64 => {
            let value = f64::from_le_bytes(bytes.try_into().ok()?);
            let power = value.is_normal() && value.to_bits() & 0xf_ffff_ffff_ffff == 0;
            (power && value.recip().is_normal() && value != 1.0).then(|| value.recip().to_le_bytes().to_vec())?
        }
        _ => return None,
    };
    Some(Literal::splat(literal.ty().clone(), reciprocal))
}

pub(super) fn unary(rewriter: &Rewriter<'_>, op: UnaryOp, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    let real = !rewriter.tensor(operand).element.is_complex();
    if op == UnaryOp::Real && real {
        return Some(Simpler::Value(operand));
    }
    if op == UnaryOp::Imag && real {
        return Some(Simpler::Constant(zeros(ty)));
    }
    let inner = rewriter.def(operand)?;
    match (op, &inner.kind) {
        (UnaryOp::Negate, OpKind::Unary(UnaryOp::Negate)) | (UnaryOp::Not, OpKind::Unary(UnaryOp::Not)) => {
            Some(Simpler::Value(inner.operands[0]))
        }
        (UnaryOp::Real, OpKind::Complex) => Some(Simpler::Value(inner.operands[0])),
        (UnaryOp::Imag, OpKind::Complex) => Some(Simpler::Value(inner.operands[1])),
        (UnaryOp::Abs, OpKind::Unary(UnaryOp::Abs)) => Some(Simpler::Value(operand)),
        _ => None,
    }
}

pub(super) fn complex(rewriter: &Rewriter<'_>, real: ValueId, imaginary: ValueId) -> Option<Simpler> {
    let part = |value: ValueId, part: UnaryOp| {
        let def = rewriter.def(value).filter(|def| def.kind == OpKind::Unary(part))?;
        rewriter.tensor(def.operands[0]).element.is_complex().then(|| def.operands[0])
    };
    let whole = part(real, UnaryOp::Real)?;
    (part(imaginary, UnaryOp::Imag)? == whole).then_some(Simpler::Value(whole))
}

pub(super) fn compare(
    rewriter: &Rewriter<'_>,
    direction: ComparisonDirection,
    lhs: ValueId,
    rhs: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    let element = rewriter.tensor(lhs).element;
    if element == ElementType::Pred {
        // x == true and x != false are x.
        let neutral = match direction {
            ComparisonDirection::Eq => Known::Ones,
            ComparisonDirection::Ne => Known::Zero,
            _ => return None,
        };
        return [(lhs, rhs), (rhs, lhs)]
            .into_iter()
            .find(|(_, other)| known(rewriter, *other) == Some(neutral))
            .map(|(value, _)| Simpler::Value(value));
    }
    if lhs != rhs || !element.is_integer() {
        return None;
    }
    let equal = matches!(direction, ComparisonDirection::Eq | ComparisonDirection::Ge | ComparisonDirection::Le);
    Some(Simpler::Constant(Literal::splat(ty.clone(), [u8::from(equal)])))
}

pub(super) fn select(rewriter: &Rewriter<'_>, operands: &[ValueId]) -> Option<Simpler> {
    let [pred, on_true, on_false] = operands.try_into().ok()?;
    if on_true == on_false {
        return Some(Simpler::Value(on_true));
    }
    if let Some(pred) = splat(rewriter, pred) {
        return Some(Simpler::Value(if pred[0] != 0 { on_true } else { on_false }));
    }
    let def = rewriter.def(pred)?;
    let negated = def.kind == OpKind::Unary(UnaryOp::Not);
    negated.then(|| Simpler::Op(OpKind::Select, vec![def.operands[0], on_false, on_true]))
}
