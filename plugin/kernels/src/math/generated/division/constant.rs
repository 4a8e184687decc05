//! Division of integers by constants, as in Granlund and Montgomery, *Division by invariant integers using
//! multiplication*, 1994.

use oxcall_hlo::ElementType;
use oxcall_jit::{Binary, Builder, Shift, Unary, Value};

use super::truncated;

/// Dividends of so many bits take a product of floats.
const SHORT: u32 = 22;

/// The quotient, rounded towards zero, of a number in all bits of its lane and a constant other than 0.
pub(super) fn quotient(b: &Builder, x: Value, divisor: u32, wide: ElementType) -> Value {
    let bits = if wide.byte_width() < 4 { 8 * wide.byte_width() as u32 } else { 32 - b.zeros(x).leading_ones() };
    let is_signed = wide.is_signed();
    let is_negative = is_signed && divisor.cast_signed() < 0;
    let size = if is_negative { divisor.wrapping_neg() } else { divisor };
    let may_be_negative = may_be_negative(b, x, wide);
    let quotient = match () {
        () if size.is_power_of_two() => by_power(b, x, size.trailing_zeros() as u8, may_be_negative),
        () if bits <= SHORT => short(b, x, size),
        () if may_be_negative => signed(b, x, size),
        () => unsigned(b, x, size, bits),
    };
    if is_negative { b.binary(Binary::SubtractBits, b.constant(0), quotient) } else { quotient }
}

/// Whether a number in all bits of its lane may be less than 0.
pub(super) fn may_be_negative(b: &Builder, x: Value, wide: ElementType) -> bool {
    wide.is_signed() && b.zeros(x) >> 31 == 0
}

/// Division by `1 << amount`.
fn by_power(b: &Builder, x: Value, amount: u8, may_be_negative: bool) -> Value {
    if !may_be_negative || amount == 0 {
        return b.shift(Shift::Right, x, amount);
    }
    // Negative numbers are rounded up.
    let sign = b.shift(Shift::RightArithmetic, x, 31);
    let up = b.binary(Binary::AddBits, x, b.shift(Shift::Right, sign, 32 - amount));
    b.shift(Shift::RightArithmetic, up, amount)
}

/// Numbers of at most [`SHORT`] bits, by a reciprocal that is rounded up: a quotient that is an integer stays one, and
/// any other is at least one part in 2^22 below the next integer, which is more than both roundings add.
fn short(b: &Builder, x: Value, divisor: u32) -> Value {
    let divisor = f64::from(divisor);
    let nearest = (1.0 / divisor) as f32;
    let is_below = f64::from(nearest).mul_add(divisor, -1.0) < 0.0;
    let reciprocal = if is_below { nearest.next_up() } else { nearest };
    truncated(b, b.binary(Binary::Multiply, b.unary(Unary::ToFloat, x), b.constant(reciprocal.to_bits())))
}

/// `ceil(2^(32 + s) / divisor)` and s, for the least s with which the high bits of a product by it are the quotient of
/// each number of `bits` bits. The divisor is no power of two.
fn reciprocal(divisor: u32, bits: u32) -> (u64, u8) {
    let scaled = |shift: u32| {
        let power = 1_u128 << (32 + shift);
        let factor = power / u128::from(divisor) + 1;
        (factor * u128::from(divisor) - power <= 1 << (32 + shift - bits)).then_some((factor as u64, shift as u8))
    };
    (0..=32).find_map(scaled).expect("the error is at most the divisor, which has 32 bits")
}

/// Signed numbers, and a positive divisor.
fn signed(b: &Builder, x: Value, divisor: u32) -> Value {
    let (factor, shift) = reciprocal(divisor, 31);
    let high = b.binary(Binary::MultiplyHighSigned, x, b.constant(factor as u32));
    // The factor is read as a signed number.
    let high = if factor >> 31 == 0 { high } else { b.binary(Binary::AddBits, high, x) };
    // The quotient of a negative number was rounded down: its sign is -1.
    let rounded = b.shift(Shift::RightArithmetic, high, shift);
    b.binary(Binary::SubtractBits, rounded, b.shift(Shift::RightArithmetic, x, 31))
}

/// Numbers of so many bits without sign.
fn unsigned(b: &Builder, x: Value, divisor: u32, bits: u32) -> Value {
    let high = |x: Value, factor: u64| b.binary(Binary::MultiplyHighUnsigned, x, b.constant(factor as u32));
    let (factor, shift) = reciprocal(divisor, bits);
    if factor >> 32 == 0 {
        return b.shift(Shift::Right, high(x, factor), shift);
    }
    let zeros = divisor.trailing_zeros();
    if zeros > 0 {
        let (factor, shift) = reciprocal(divisor >> zeros, bits - zeros);
        return b.shift(Shift::Right, high(b.shift(Shift::Right, x, zeros as u8), factor), shift);
    }
    // The factor has 33 bits: half of what the product by the lowest 32 lacks is added, which does not overflow.
    let product = high(x, factor);
    let half = b.shift(Shift::Right, b.binary(Binary::SubtractBits, x, product), 1);
    b.shift(Shift::Right, b.binary(Binary::AddBits, half, product), shift - 1)
}
