//! Division of integers as operations of generated code, which has none of its own: quotients of floats, put right.

use oxcall_hlo::ElementType;
use oxcall_jit::{Binary, Builder, Compare, Shift, Unary, Value};

use super::extended;

/// The quotient, rounded towards zero; all bits if the divisor is 0.
pub(super) fn quotient(b: &Builder, [x, y, _]: [Value; 3], wide: ElementType) -> Value {
    let (x, y) = (extended(b, x, wide), extended(b, y, wide));
    b.select(is_zero(b, y), b.constant(u32::MAX), divided(b, x, y, wide).0)
}

/// The remainder, with the sign of the dividend; the dividend if the divisor is 0.
pub(super) fn remainder(b: &Builder, [x, y, _]: [Value; 3], wide: ElementType) -> Value {
    let (x, y) = (extended(b, x, wide), extended(b, y, wide));
    b.select(is_zero(b, y), x, divided(b, x, y, wide).1)
}

fn is_zero(b: &Builder, x: Value) -> Value {
    b.compare(Compare::EqualBits, x, b.constant(0))
}

/// Quotient and remainder of numbers in all bits of their lanes; unspecified if the divisor is 0.
fn divided(b: &Builder, x: Value, y: Value, wide: ElementType) -> (Value, Value) {
    match (wide, b.known(y)) {
        (_, Some(power)) if power.is_power_of_two() && power.cast_signed() > 0 => {
            by_power(b, x, power.trailing_zeros() as u8, wide.is_signed())
        }
        (ElementType::S32, _) => signed(b, x, y),
        (ElementType::U32, _) => unsigned(b, x, y),
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

/// Division by `1 << amount`.
fn by_power(b: &Builder, x: Value, amount: u8, is_signed: bool) -> (Value, Value) {
    let quotient = if is_signed && amount > 0 {
        // Negative numbers are rounded up.
        let sign = b.shift(Shift::RightArithmetic, x, 31);
        let up = b.binary(Binary::AddBits, x, b.shift(Shift::Right, sign, 32 - amount));
        b.shift(Shift::RightArithmetic, up, amount)
    } else {
        b.shift(Shift::Right, x, amount)
    };
    (quotient, b.binary(Binary::SubtractBits, x, b.shift(Shift::Left, quotient, amount)))
}

/// Signed numbers of 32 bits. A float has 24 bits, so the first quotient may be off by some 2^8; that of what is left
/// by 1, where it is close to an integer. Sums and products wrap, and what is left never overflows.
fn signed(b: &Builder, x: Value, y: Value) -> (Value, Value) {
    let reciprocal = b.known(y).map(|y| b.constant((1.0 / y.cast_signed() as f32).to_bits()));
    let divisor = b.unary(Unary::ToFloat, y);
    let quotient = |x: Value| {
        let x = b.unary(Unary::ToFloat, x);
        truncated(
            b,
            match reciprocal {
                Some(reciprocal) => b.binary(Binary::Multiply, x, reciprocal),
                None => b.binary(Binary::Divide, x, divisor),
            },
        )
    };
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
