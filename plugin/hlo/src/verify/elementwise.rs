//! Element-wise ops and conversions.

use super::signature::{Class, Signature, ensure, one, same_type};
use crate::{BinaryOp, ComparisonDirection, ComparisonType, ElementType, Error, TensorType, Type, UnaryOp};

fn unary_class(op: UnaryOp) -> Class {
    use UnaryOp::*;
    match op {
        Abs | Sign => Class::SignedFloatOrComplex,
        Ceil | Floor | IsFinite | RoundNearestAfz | RoundNearestEven => Class::Float,
        BesselI0e | BesselI1e | Digamma | Erf | ErfInv | Erfc | IsInf | IsNegInf | IsPosInf | Lgamma => Class::Float,
        CountLeadingZeros | Popcnt => Class::Integer,
        Negate | Square => Class::Number,
        Not => Class::BooleanOrInteger,
        Cbrt | Cosine | Exponential | ExponentialMinusOne | Imag | Log | LogPlusOne | Logistic | Real | Rsqrt => {
            Class::FloatOrComplex
        }
        Sine | Sqrt | Tan | Tanh => Class::FloatOrComplex,
        Acos | Acosh | Asin | Asinh | Atan | Atanh | Conj | Cosh | Sinh => Class::FloatOrComplex,
    }
}

fn binary_class(op: BinaryOp) -> Class {
    use BinaryOp::*;
    match op {
        Add | Maximum | Minimum | Multiply => Class::Any,
        And | Or | Xor => Class::BooleanOrInteger,
        Atan2 => Class::FloatOrComplex,
        Divide | Power | Remainder | Subtract => Class::Number,
        ShiftLeft | ShiftRightArithmetic | ShiftRightLogical => Class::Integer,
        NextAfter | Polygamma | Zeta => Class::Float,
    }
}

pub(crate) fn unary(cx: Signature<'_>, op: UnaryOp) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor_of(0, "operand", unary_class(op))?;
    one(operand.with_element(match op {
        UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag => operand.element.real(),
        UnaryOp::IsFinite | UnaryOp::IsInf | UnaryOp::IsNegInf | UnaryOp::IsPosInf => ElementType::Pred,
        _ => operand.element,
    }))
}

pub(crate) fn binary(cx: Signature<'_>, op: BinaryOp) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let lhs = cx.tensor_of(0, "lhs", binary_class(op))?;
    let rhs = cx.tensor(1, "rhs")?;
    same_type(lhs, "lhs", rhs, "rhs")?;
    one(lhs.clone())
}

pub(crate) fn compare(
    cx: Signature<'_>,
    direction: ComparisonDirection,
    compare_type: ComparisonType,
) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    same_type(lhs, "lhs", rhs, "rhs")?;
    let element = lhs.element;
    // Older producers mix up the two integer orders: that of the element type counts.
    let fits = match compare_type {
        ComparisonType::NoType => true,
        ComparisonType::Float => element.is_float() || element.is_complex(),
        ComparisonType::TotalOrder => element.is_float(),
        ComparisonType::Signed | ComparisonType::Unsigned => element.is_integer() || element == ElementType::Pred,
    };
    ensure!(fits, "compare_type {} does not apply to lhs, {lhs}", compare_type.name());
    let ordered = !matches!(direction, ComparisonDirection::Eq | ComparisonDirection::Ne);
    ensure!(!(ordered && element.is_complex()), "comparison_direction {} does not apply to {lhs}", direction.name());
    one(lhs.with_element(ElementType::Pred))
}

pub(crate) fn select(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(3)?;
    let pred = cx.tensor_of(0, "pred", Class::Boolean)?;
    let (on_true, on_false) = (cx.tensor(1, "on_true")?, cx.tensor(2, "on_false")?);
    same_type(on_true, "on_true", on_false, "on_false")?;
    ensure!(
        pred.rank() == 0 || pred.dims == on_true.dims,
        "pred must be a scalar or have the shape of on_true, {on_true}, got {pred}"
    );
    one(on_true.clone())
}

pub(crate) fn clamp(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(3)?;
    let operand = cx.tensor_of(1, "operand", Class::Any)?;
    for (index, name) in [(0, "min"), (2, "max")] {
        let bound = cx.tensor(index, name)?;
        ensure!(
            bound.element == operand.element && (bound.rank() == 0 || bound.dims == operand.dims),
            "{name} must be a scalar of the element type of operand, or have its type, {operand}; got {bound}"
        );
    }
    one(operand.clone())
}

pub(crate) fn convert(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor(0, "operand")?;
    one(operand.with_element(cx.given_result()?.element))
}

/// Elements of different widths are joined from, or split into, a last dimension.
pub(crate) fn bitcast_convert(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let (operand, result) = (cx.tensor(0, "operand")?, cx.given_result()?);
    let (from, to) = (operand.element, result.element);
    ensure!(
        from.is_complex() == to.is_complex(),
        "operand and result must be both complex or neither, got {operand} and {result}"
    );
    ensure!(
        (from == ElementType::Pred) == (to == ElementType::Pred),
        "operand and result must be both boolean or neither, got {operand} and {result}"
    );
    let mut dims = operand.dims.clone();
    let (small, large) = (from.bits().min(to.bits()), from.bits().max(to.bits()));
    ensure!(large % small == 0, "the width of {from} must be a multiple or a divisor of that of {to}");
    if from.bits() < to.bits() {
        ensure!(
            dims.last() == Some(&(large / small)),
            "the last dimension of operand, {operand}, must be {} to join elements to {to}",
            large / small
        );
        dims.pop();
    } else if from.bits() > to.bits() {
        dims.push(large / small);
    }
    one(TensorType::new(to, dims))
}

pub(crate) fn reduce_precision(cx: Signature<'_>, exponent_bits: u32, mantissa_bits: u32) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor_of(0, "operand", Class::Float)?;
    ensure!(exponent_bits >= 1, "exponent_bits must be at least 1, got {exponent_bits}");
    ensure!(
        exponent_bits <= 64 && mantissa_bits <= 64,
        "exponent_bits = {exponent_bits} and mantissa_bits = {mantissa_bits} must be at most 64"
    );
    one(operand.clone())
}

pub(crate) fn complex(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let lhs = cx.tensor_of(0, "lhs", Class::F32OrF64)?;
    same_type(lhs, "lhs", cx.tensor(1, "rhs")?, "rhs")?;
    let element = if lhs.element == ElementType::F32 { ElementType::C64 } else { ElementType::C128 };
    one(lhs.with_element(element))
}
