//! Division of integers as operations of generated code, which has none of its own: quotients of floats, put right. A
//! constant divisor takes a product instead.

mod constant;

use oxcall_hlo::ElementType;
use oxcall_jit::{Binary, Builder, Compare, Shift, Unary, Value};

use super::extended;

/// The quotient, rounded towards zero; all bits if the divisor is 0.
pub(super) fn quotient(b: &Builder, [x, y, _]: [Value; 3], wide: ElementType) -> Value {
    let (x, y) = (extended(b, x, wide), extended(b, y, wide));
    match b.known(y) {
        Some(0) => b.constant(u32::MAX),
        Some(divisor) => constant::quotient(b, x, divisor, wide),
        None => b.select(is_zero(b, y), b.constant(u32::MAX), divided(b, x, y, wide).0),
    }
}

/// The remainder, with the sign of the dividend; the dividend if the divisor is 0.
pub(super) fn remainder(b: &Builder, [x, y, _]: [Value; 3], wide: ElementType) -> Value {
    let (x, y) = (extended(b, x, wide), extended(b, y, wide));
    match b.known(y) {
        Some(0) => x,
        Some(power) if power.is_power_of_two() && !constant::may_be_negative(b, x, wide) => {
            b.binary(Binary::And, x, b.constant(power - 1))
        }
        Some(divisor) => without(b, x, constant::quotient(b, x, divisor, wide), y),
        None => b.select(is_zero(b, y), x, divided(b, x, y, wide).1),
    }
}

fn is_zero(b: &Builder, x: Value) -> Value {
    b.compare(Compare::EqualBits, x, b.constant(0))
}

/// Quotient and remainder of numbers in all bits of their lanes; unspecified if the divisor is 0.
fn divided(b: &Builder, x: Value, y: Value, wide: ElementType) -> (Value, Value) {
    match wide {
        ElementType::S32 => signed(b, x, y),
        ElementType::U32 => unsigned(b, x, y),
        // Both are floats of 24 bits, whose quotient is less than half an integer's distance from the true one.
        _ => {
            let quotient =
                truncated(b, b.binary(Binary::Divide, b.unary(Unary::ToFloat, x), b.unary(Unary::ToFloat, y)));
            (quotient, without(b, x, quotient, y))
        }
    }
}

fn truncated(b: &Builder, x: Value) -> Value {
    b.unary(Unary::ToInteger, x)
}

/// `x - quotient * y`
fn without(b: &Builder, x: Value, quotient: Value, y: Value) -> Value {
    b.binary(Binary::SubtractBits, x, b.binary(Binary::MultiplyBits, quotient, y))
}

/// Signed numbers of 32 bits. A float has 24 bits, so the first quotient may be off by some 2^8; that of what is left
/// by 1, where it is close to an integer. Sums and products wrap, and what is left never overflows.
fn signed(b: &Builder, x: Value, y: Value) -> (Value, Value) {
    let divisor = b.unary(Unary::ToFloat, y);
    let quotient = |x: Value| truncated(b, b.binary(Binary::Divide, b.unary(Unary::ToFloat, x), divisor));
    let first = quotient(x);
    let left = without(b, x, first, y);
    let second = quotient(left);
    let left = without(b, left, second, y);
    let quotient = b.binary(Binary::AddBits, first, second);
    // What is left is too large, or has another sign than the dividend.
    let (size, limit) = (magnitude(b, left), magnitude(b, y));
    let is_large = b.compare(Compare::EqualBits, b.binary(Binary::MaxUnsigned, size, limit), size);
    let differs = b.compare(Compare::Greater, b.constant(0), b.binary(Binary::Xor, left, x));
    let is_wrong = b.select(is_zero(b, left), b.constant(0), differs);
    let is_off = b.binary(Binary::Or, is_large, is_wrong);
    // 1 or -1, the sign of what is left by that of the divisor.
    let sign = b.shift(Shift::RightArithmetic, b.binary(Binary::Xor, left, y), 31);
    let one = b.binary(Binary::And, is_off, b.binary(Binary::Or, sign, b.constant(1)));
    (b.binary(Binary::AddBits, quotient, one), without(b, left, one, y))
}

/// `|x|`, as a number without sign.
fn magnitude(b: &Builder, x: Value) -> Value {
    let sign = b.shift(Shift::RightArithmetic, x, 31);
    b.binary(Binary::SubtractBits, b.binary(Binary::Xor, x, sign), sign)
}

/// Numbers of 32 bits without sign: half of the dividend is divided as a signed number.
fn unsigned(b: &Builder, x: Value, y: Value) -> (Value, Value) {
    let is_above = |x: Value, y: Value| b.compare(Compare::EqualBits, b.binary(Binary::MaxUnsigned, x, y), x);
    let (half, _) = signed(b, b.shift(Shift::Right, x, 1), y);
    let quotient = b.shift(Shift::Left, half, 1);
    // A divisor of all 32 bits is contained once or not at all.
    let is_long = b.compare(Compare::Greater, b.constant(0), y);
    let quotient = b.select(is_long, b.constant(0), quotient);
    let left = without(b, x, quotient, y);
    let one = b.binary(Binary::And, is_above(left, y), b.constant(1));
    (b.binary(Binary::AddBits, quotient, one), without(b, left, one, y))
}
