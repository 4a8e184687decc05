//! The functions of complex numbers of two floats as operations of generated code, where the real part is the lower
//! lane of a pair.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ElementType, UnaryOp};
use oxcall_jit::{Binary, Builder, Compare, Conversion, Shift, Shuffle, Value, WideBinary};

use super::{Record, truth};
use crate::math::complex::{modulus_of_floats, sign_of_floats};
use crate::math::traced::{Traced, TracedFloat};

/// The signs of both parts.
const REAL_SIGN: u64 = 1 << 31;
const IMAGINARY_SIGN: u64 = 1 << 63;

/// The function of one number for `op`.
pub(super) fn unary(op: UnaryOp) -> Option<Record> {
    Some(match op {
        UnaryOp::Real => |b, [x, ..]| parts(b, x)[0],
        UnaryOp::Imag => |b, [x, ..]| parts(b, x)[1],
        UnaryOp::Negate => |b, [x, ..]| with_other_signs(b, x, REAL_SIGN | IMAGINARY_SIGN),
        UnaryOp::Conj => |b, [x, ..]| with_other_signs(b, x, IMAGINARY_SIGN),
        UnaryOp::Square => |b, [x, ..]| product(b, x, x),
        UnaryOp::Abs => |b, [x, ..]| rounded(b, modulus_of_floats(parts_in_double(b, x))),
        UnaryOp::Sign => |b, [x, ..]| joined(b, sign_of_floats(parts_in_double(b, x)).map(|part| rounded(b, part))),
        _ => return None,
    })
}

/// The real and the imaginary part.
pub(super) fn parts(b: &Builder, x: Value) -> [Value; 2] {
    [x, b.wide().shift(Shift::Right, x, 32)].map(|pair| b.wide().convert(Conversion::Low, pair))
}

/// The parts as doubles.
fn parts_in_double(b: &Builder, x: Value) -> [TracedFloat<'_, u64>; 2] {
    parts(b, x).map(|part| TracedFloat(Traced::Value(b, b.wide().convert(Conversion::ToDouble, part))))
}

/// The float nearest to a double.
fn rounded(b: &Builder, x: TracedFloat<'_, u64>) -> Value {
    b.wide().convert(Conversion::ToFloat, x.0.value(b))
}

/// The number with these parts.
pub(super) fn joined(b: &Builder, parts: [Value; 2]) -> Value {
    let [real, imaginary] = parts.map(|part| b.wide().convert(Conversion::ZeroExtend, part));
    b.wide().binary(WideBinary::Or, real, b.wide().shift(Shift::Left, imaginary, 32))
}

fn with_other_signs(b: &Builder, x: Value, signs: u64) -> Value {
    b.wide().binary(WideBinary::Xor, x, b.wide().constant(signs))
}

/// The product, rounded as [the function's](crate::math::complex): at the first product of each part, and at the sum.
fn product(b: &Builder, x: Value, y: Value) -> Value {
    let b_wide = b.wide();
    let [real, imaginary] = [Shuffle::Low, Shuffle::High].map(|part| b_wide.shuffle(part, x));
    let crossed = b_wide.words(Binary::Multiply, imaginary, b_wide.shuffle(Shuffle::Swap, y));
    b_wide.fused_words(real, y, with_other_signs(b, crossed, REAL_SIGN))
}

/// The product, of which each part is the sum of two rounded products.
pub(crate) fn product_by_parts(b: &Builder, [x, y, _]: [Value; 3]) -> Value {
    let b_wide = b.wide();
    let [real, imaginary] = [Shuffle::Low, Shuffle::High].map(|part| b_wide.shuffle(part, x));
    let crossed = b_wide.words(Binary::Multiply, imaginary, b_wide.shuffle(Shuffle::Swap, y));
    b_wide.words(Binary::Add, b_wide.words(Binary::Multiply, real, y), with_other_signs(b, crossed, REAL_SIGN))
}

/// The function of two numbers for `op`.
pub(super) fn binary(op: BinaryOp) -> Option<Record> {
    Some(match op {
        BinaryOp::Add => |b, [x, y, _]| b.wide().words(Binary::Add, x, y),
        BinaryOp::Subtract => |b, [x, y, _]| b.wide().words(Binary::Subtract, x, y),
        BinaryOp::Multiply => |b, [x, y, _]| product(b, x, y),
        _ => return None,
    })
}

/// The comparison of two numbers, which have no order.
pub(super) fn compare(direction: ComparisonDirection) -> Option<Record> {
    Some(match direction {
        ComparisonDirection::Eq => |b, [x, y, _]| truth(b, are_equal(b, x, y), false),
        ComparisonDirection::Ne => |b, [x, y, _]| truth(b, are_equal(b, x, y), true),
        _ => return None,
    })
}

/// The mask, of one lane, that says whether both parts are equal.
fn are_equal(b: &Builder, x: Value, y: Value) -> Value {
    let ([x, x_imaginary], [y, y_imaginary]) = (parts(b, x), parts(b, y));
    b.binary(Binary::And, b.compare(Compare::Equal, x, y), b.compare(Compare::Equal, x_imaginary, y_imaginary))
}

/// The number with two parts of a type.
pub(crate) fn of_parts(part: ElementType) -> Option<Record> {
    Some(match part {
        ElementType::F32 => |b, [real, imaginary, _]| joined(b, [real, imaginary]),
        ElementType::F64 => |b, [real, imaginary, _]| b.joined([real, imaginary]),
        _ => return None,
    })
}
