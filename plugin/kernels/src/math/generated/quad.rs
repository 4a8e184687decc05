//! The functions of complex numbers of two doubles as operations of generated code, where each part is a value of its
//! own.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ElementType, UnaryOp};
use oxcall_jit::{Builder, Compare, Conversion, Shift, Value, WideBinary};

use super::wide::{SIGN, constant, truth};
use super::{Record, complex, extended};

/// Whether elements of this type have two parts of 64 bits.
pub(crate) fn is_quad(element: ElementType) -> bool {
    element == ElementType::C128
}

/// The function of one number for `op`.
pub(super) fn unary(op: UnaryOp) -> Option<Record> {
    Some(match op {
        UnaryOp::Real => |b, [x, ..]| b.parts(x)[0],
        UnaryOp::Imag => |b, [x, ..]| b.parts(x)[1],
        UnaryOp::Negate => |b, [x, ..]| b.joined(b.parts(x).map(|part| negated(b, part))),
        UnaryOp::Conj => |b, [x, ..]| {
            let [real, imaginary] = b.parts(x);
            b.joined([real, negated(b, imaginary)])
        },
        UnaryOp::Square => |b, [x, ..]| product(b, x, x),
        UnaryOp::Abs => |b, [x, ..]| modulus(b, b.parts(x)),
        UnaryOp::IsFinite => |b, [x, ..]| {
            let infinity = constant(b, f64::INFINITY);
            let [real, imaginary] = b.parts(x).map(|part| b.wide().compare(Compare::Less, size(b, part), infinity));
            truth(b, b.wide().binary(WideBinary::And, real, imaginary), false)
        },
        _ => return None,
    })
}

fn negated(b: &Builder, part: Value) -> Value {
    b.wide().binary(WideBinary::Xor, part, b.wide().constant(SIGN))
}

fn size(b: &Builder, part: Value) -> Value {
    b.wide().binary(WideBinary::And, part, b.wide().constant(!SIGN))
}

/// The product, rounded as [the function's](crate::math::complex): at the first product of each part, and at the sum.
fn product(b: &Builder, x: Value, y: Value) -> Value {
    let ([x, x_imaginary], [y, y_imaginary]) = (b.parts(x), b.parts(y));
    let times = |x: Value, y: Value| b.wide().binary(WideBinary::Multiply, x, y);
    let real = b.wide().fused(x, y, negated(b, times(x_imaginary, y_imaginary)));
    b.joined([real, b.wide().fused(x, y_imaginary, times(x_imaginary, y))])
}

/// The modulus, with the scale of [the function's](crate::math::complex).
fn modulus(b: &Builder, parts: [Value; 2]) -> Value {
    const LARGEST: u64 = 2045;
    let b_wide = b.wide();
    let [x, y] = parts.map(|part| size(b, part));
    let largest = b_wide.binary(WideBinary::Larger, x, y);
    let exponent = b_wide.shift(Shift::Right, largest, 52);
    let limit = b_wide.constant(LARGEST);
    let exponent = b_wide.select(b_wide.compare(Compare::Greater, exponent, limit), limit, exponent);
    let power = b_wide.binary(WideBinary::SubtractBits, b_wide.constant(LARGEST + 1), exponent);
    let power = b_wide.shift(Shift::Left, power, 52);
    let infinity = constant(b, f64::INFINITY);
    let is_finite = b_wide.compare(Compare::Less, largest, infinity);
    let is_scaled = b_wide.binary(WideBinary::And, is_finite, b_wide.compare(Compare::Less, constant(b, 0.0), largest));
    let scale = b_wide.select(is_scaled, power, constant(b, 1.0));
    let [x_scaled, y_scaled] = [x, y].map(|part| b_wide.binary(WideBinary::Multiply, part, scale));
    let norm = b_wide.fused(x_scaled, x_scaled, b_wide.binary(WideBinary::Multiply, y_scaled, y_scaled));
    let modulus = b_wide.binary(WideBinary::Divide, b_wide.sqrt(norm), scale);
    let [x, y] = [x, y].map(|part| b_wide.compare(Compare::Equal, part, infinity));
    b_wide.select(b_wide.binary(WideBinary::Or, x, y), infinity, modulus)
}

/// The function of two numbers for `op`.
pub(super) fn binary(op: BinaryOp) -> Option<Record> {
    Some(match op {
        BinaryOp::Add => |b, [x, y, _]| by_parts(b, WideBinary::Add, x, y),
        BinaryOp::Subtract => |b, [x, y, _]| by_parts(b, WideBinary::Subtract, x, y),
        BinaryOp::Multiply => |b, [x, y, _]| product(b, x, y),
        _ => return None,
    })
}

/// An operation on each part of two numbers.
fn by_parts(b: &Builder, op: WideBinary, x: Value, y: Value) -> Value {
    let ([x, x_imaginary], [y, y_imaginary]) = (b.parts(x), b.parts(y));
    b.joined([b.wide().binary(op, x, y), b.wide().binary(op, x_imaginary, y_imaginary)])
}

/// The comparison of two numbers, which have no order.
pub(super) fn compare(direction: ComparisonDirection) -> Option<Record> {
    Some(match direction {
        ComparisonDirection::Eq => |b, [x, y, _]| truth(b, are_equal(b, x, y), false),
        ComparisonDirection::Ne => |b, [x, y, _]| truth(b, are_equal(b, x, y), true),
        _ => return None,
    })
}

/// The mask of numbers whose parts are both equal.
fn are_equal(b: &Builder, x: Value, y: Value) -> Value {
    let ([x, x_imaginary], [y, y_imaginary]) = (b.parts(x), b.parts(y));
    let equal = |x: Value, y: Value| b.wide().compare(Compare::Equal, x, y);
    b.wide().binary(WideBinary::And, equal(x, y), equal(x_imaginary, y_imaginary))
}

/// `predicate ? x : y`.
pub(super) fn select() -> Record {
    |b, [p, x, y]| {
        let mask = b.wide().convert(Conversion::SignExtend, b.mask(extended(b, p, ElementType::U8)));
        let ([x, x_imaginary], [y, y_imaginary]) = (b.parts(x), b.parts(y));
        b.joined([b.wide().select(mask, x, y), b.wide().select(mask, x_imaginary, y_imaginary)])
    }
}

/// The conversion between a type in which elements are computed and these numbers.
pub(super) fn convert(from: ElementType, to: ElementType) -> Option<Record> {
    Some(match (from, to) {
        (ElementType::F64, ElementType::C128) => |b, [x, ..]| b.joined([x, constant(b, 0.0)]),
        (ElementType::C64, ElementType::C128) => {
            |b, [x, ..]| b.joined(complex::parts(b, x).map(|part| b.wide().convert(Conversion::ToDouble, part)))
        }
        (ElementType::C128, ElementType::C64) => {
            |b, [x, ..]| complex::joined(b, b.parts(x).map(|part| b.wide().convert(Conversion::ToFloat, part)))
        }
        _ => return None,
    })
}
