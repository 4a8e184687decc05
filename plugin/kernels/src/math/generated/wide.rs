//! The functions of elements of 64 bits as operations of generated code, where such an element takes a pair of lanes.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ElementType, UnaryOp};
use oxcall_jit::{Builder, Compare, Conversion, Round, Shift, Value, WideBinary};

use super::{Record, complex, extended, float, lane_unary, maximum, minimum};
use crate::math::double::{self, Double};
use crate::math::lane::Lane;
use crate::math::traced::{Generated, TracedFloat};

/// Whether elements of this type take pairs of lanes.
pub(crate) fn is_wide(element: ElementType) -> bool {
    matches!(element, ElementType::F64 | ElementType::S64 | ElementType::U64 | ElementType::C64)
}

/// The sign of a double or an integer.
pub(super) const SIGN: u64 = 1 << 63;

pub(super) fn constant(b: &Builder, x: f64) -> Value {
    b.wide().constant(x.to_bits())
}

/// The truth of a mask of 64 bits, or of its opposite.
pub(super) fn truth(b: &Builder, mask: Value, opposite: bool) -> Value {
    super::truth(b, b.wide().convert(Conversion::Low, mask), opposite)
}

/// The function of one element for `op`.
pub(super) fn unary(op: UnaryOp, wide: ElementType) -> Option<Record> {
    match wide {
        ElementType::F64 => float_unary(op),
        ElementType::C64 => complex::unary(op),
        _ => integer_unary(op, wide.is_signed()),
    }
}

fn float_unary(op: UnaryOp) -> Option<Record> {
    if let Some(record) = lane_unary::<u64>(op) {
        return Some(record);
    }
    Some(match op {
        UnaryOp::Erf => |b, [x, ..]| float::<u64>(b, x, double::erf::<Generated, _>),
        UnaryOp::Erfc => |b, [x, ..]| float::<u64>(b, x, double::erfc::<Generated, _>),
        UnaryOp::Sinh => |b, [x, ..]| float::<u64>(b, x, double::sinh::<Generated, _>),
        UnaryOp::Cosh => |b, [x, ..]| float::<u64>(b, x, double::cosh::<Generated, _>),
        UnaryOp::Asinh => |b, [x, ..]| float::<u64>(b, x, double::asinh::<Generated, _>),
        UnaryOp::Acosh => |b, [x, ..]| float::<u64>(b, x, double::acosh::<Generated, _>),
        UnaryOp::Atanh => |b, [x, ..]| float::<u64>(b, x, double::atanh::<Generated, _>),
        UnaryOp::Floor => |b, [x, ..]| b.wide().round(Round::Floor, x),
        UnaryOp::Ceil => |b, [x, ..]| b.wide().round(Round::Ceil, x),
        UnaryOp::RoundNearestEven => |b, [x, ..]| b.wide().round(Round::Even, x),
        UnaryOp::RoundNearestAfz => |b, [x, ..]| {
            // The number below a half: the sum of 0.5 and the one before it would round to 1.
            let moved = float::<u64>(b, x, |x| x + TracedFloat::of_double(0.5_f64.next_down()).with_sign(x));
            b.wide().round(Round::Truncate, moved)
        },
        UnaryOp::IsFinite => |b, [x, ..]| {
            let size = float::<u64>(b, x, Lane::magnitude);
            truth(b, b.wide().compare(Compare::Less, size, constant(b, f64::INFINITY)), false)
        },
        _ => return None,
    })
}

fn integer_unary(op: UnaryOp, is_signed: bool) -> Option<Record> {
    Some(match op {
        UnaryOp::Negate => |b, [x, ..]| negated(b, x),
        UnaryOp::Not => |b, [x, ..]| b.wide().binary(WideBinary::Xor, x, b.wide().constant(u64::MAX)),
        UnaryOp::Square => |b, [x, ..]| product(b, x, x),
        UnaryOp::Abs if !is_signed => |_, [x, ..]| x,
        UnaryOp::Abs => |b, [x, ..]| b.wide().select(is_negative(b, x), negated(b, x), x),
        UnaryOp::Sign if is_signed => |b, [x, ..]| {
            let is_positive = b.wide().compare(Compare::Greater, x, b.wide().constant(0));
            // A mask is -1.
            b.wide().select(is_positive, b.wide().constant(1), is_negative(b, x))
        },
        _ => return None,
    })
}

fn negated(b: &Builder, x: Value) -> Value {
    b.wide().binary(WideBinary::SubtractBits, b.wide().constant(0), x)
}

fn is_negative(b: &Builder, x: Value) -> Value {
    b.wide().compare(Compare::Greater, b.wide().constant(0), x)
}

/// The low 64 bits of a product.
fn product(b: &Builder, x: Value, y: Value) -> Value {
    let high = |x: Value| b.wide().shift(Shift::Right, x, 32);
    let times = |x: Value, y: Value| b.wide().binary(WideBinary::MultiplyLow, x, y);
    let crossed = b.wide().binary(WideBinary::AddBits, times(high(x), y), times(x, high(y)));
    b.wide().binary(WideBinary::AddBits, times(x, y), b.wide().shift(Shift::Left, crossed, 32))
}

/// The function of two elements for `op`.
pub(super) fn binary(op: BinaryOp, wide: ElementType) -> Option<Record> {
    match wide {
        ElementType::F64 => float_binary(op),
        ElementType::C64 => complex::binary(op),
        _ => integer_binary(op, wide.is_signed()),
    }
}

fn float_binary(op: BinaryOp) -> Option<Record> {
    Some(match op {
        BinaryOp::Add => |b, [x, y, _]| b.wide().binary(WideBinary::Add, x, y),
        BinaryOp::Subtract => |b, [x, y, _]| b.wide().binary(WideBinary::Subtract, x, y),
        BinaryOp::Multiply => |b, [x, y, _]| b.wide().binary(WideBinary::Multiply, x, y),
        BinaryOp::Divide => |b, [x, y, _]| b.wide().binary(WideBinary::Divide, x, y),
        BinaryOp::Maximum => |b, [x, y, _]| maximum::<u64>(b, x, y),
        BinaryOp::Minimum => |b, [x, y, _]| minimum::<u64>(b, x, y),
        _ => return None,
    })
}

fn integer_binary(op: BinaryOp, is_signed: bool) -> Option<Record> {
    Some(match op {
        BinaryOp::Add => |b, [x, y, _]| b.wide().binary(WideBinary::AddBits, x, y),
        BinaryOp::Subtract => |b, [x, y, _]| b.wide().binary(WideBinary::SubtractBits, x, y),
        BinaryOp::Multiply => |b, [x, y, _]| product(b, x, y),
        BinaryOp::And => |b, [x, y, _]| b.wide().binary(WideBinary::And, x, y),
        BinaryOp::Or => |b, [x, y, _]| b.wide().binary(WideBinary::Or, x, y),
        BinaryOp::Xor => |b, [x, y, _]| b.wide().binary(WideBinary::Xor, x, y),
        BinaryOp::ShiftLeft => |b, [x, y, _]| b.wide().binary(WideBinary::ShiftLeft, x, y),
        BinaryOp::ShiftRightLogical => |b, [x, y, _]| b.wide().binary(WideBinary::ShiftRight, x, y),
        BinaryOp::Maximum if is_signed => |b, [x, y, _]| b.wide().select(is_above::<true>(b, x, y), x, y),
        BinaryOp::Minimum if is_signed => |b, [x, y, _]| b.wide().select(is_above::<true>(b, x, y), y, x),
        BinaryOp::Maximum => |b, [x, y, _]| b.wide().select(is_above::<false>(b, x, y), x, y),
        BinaryOp::Minimum => |b, [x, y, _]| b.wide().select(is_above::<false>(b, x, y), y, x),
        _ => return None,
    })
}

/// The mask of `x > y`, of integers.
fn is_above<const SIGNED: bool>(b: &Builder, x: Value, y: Value) -> Value {
    // Changing the top bits maps the order of unsigned integers to that of signed ones.
    let [x, y] = [x, y].map(|x| if SIGNED { x } else { b.wide().binary(WideBinary::Xor, x, b.wide().constant(SIGN)) });
    b.wide().compare(Compare::Greater, x, y)
}

/// `min(max(x, low), high)` of integers.
fn clamp<const SIGNED: bool>(b: &Builder, [low, x, high]: [Value; 3]) -> Value {
    let above = b.wide().select(is_above::<SIGNED>(b, x, low), x, low);
    b.wide().select(is_above::<SIGNED>(b, above, high), high, above)
}

/// The comparison of two elements.
pub(super) fn compare(direction: ComparisonDirection, wide: ElementType) -> Option<Record> {
    use ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};
    Some(match (wide, direction) {
        (ElementType::C64, _) => return complex::compare(direction),
        (ElementType::F64, Eq) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::Equal, x, y), false),
        (ElementType::F64, Ne) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::NotEqual, x, y), false),
        (ElementType::F64, Lt) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::Less, x, y), false),
        (ElementType::F64, Le) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::LessOrEqual, x, y), false),
        (ElementType::F64, Gt) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::Less, y, x), false),
        (ElementType::F64, Ge) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::LessOrEqual, y, x), false),
        (_, Eq) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::EqualBits, x, y), false),
        (_, Ne) => |b, [x, y, _]| truth(b, b.wide().compare(Compare::EqualBits, x, y), true),
        (ElementType::S64, Gt) => |b, [x, y, _]| truth(b, is_above::<true>(b, x, y), false),
        (ElementType::S64, Le) => |b, [x, y, _]| truth(b, is_above::<true>(b, x, y), true),
        (ElementType::S64, Lt) => |b, [x, y, _]| truth(b, is_above::<true>(b, y, x), false),
        (ElementType::S64, Ge) => |b, [x, y, _]| truth(b, is_above::<true>(b, y, x), true),
        (_, Gt) => |b, [x, y, _]| truth(b, is_above::<false>(b, x, y), false),
        (_, Le) => |b, [x, y, _]| truth(b, is_above::<false>(b, x, y), true),
        (_, Lt) => |b, [x, y, _]| truth(b, is_above::<false>(b, y, x), false),
        (_, Ge) => |b, [x, y, _]| truth(b, is_above::<false>(b, y, x), true),
    })
}

/// The comparison of two doubles by IEEE 754's total order.
pub(super) fn compare_totally(direction: ComparisonDirection) -> Record {
    use ComparisonDirection::{Eq, Ge, Gt, Le, Lt, Ne};
    match direction {
        Eq => |b, [x, y, _]| truth(b, b.wide().compare(Compare::EqualBits, x, y), false),
        Ne => |b, [x, y, _]| truth(b, b.wide().compare(Compare::EqualBits, x, y), true),
        Gt => |b, [x, y, _]| truth(b, is_totally_above(b, x, y), false),
        Le => |b, [x, y, _]| truth(b, is_totally_above(b, x, y), true),
        Lt => |b, [x, y, _]| truth(b, is_totally_above(b, y, x), false),
        Ge => |b, [x, y, _]| truth(b, is_totally_above(b, y, x), true),
    }
}

/// The mask of `x > y` in the total order, that of integers once the other bits of a negative number are inverted.
fn is_totally_above(b: &Builder, x: Value, y: Value) -> Value {
    let zero = b.wide().constant(0);
    let [x, y] = [x, y].map(|x| {
        let others = b.wide().binary(WideBinary::And, is_above::<true>(b, zero, x), b.wide().constant(!SIGN));
        b.wide().binary(WideBinary::Xor, x, others)
    });
    is_above::<true>(b, x, y)
}

/// `predicate ? x : y`.
pub(super) fn select() -> Record {
    |b, [p, x, y]| {
        let mask = b.mask(extended(b, p, ElementType::U8));
        b.wide().select(b.wide().convert(Conversion::SignExtend, mask), x, y)
    }
}

/// `min(max(x, low), high)`, of operands low, x, high.
pub(super) fn clamp_of(wide: ElementType) -> Option<Record> {
    Some(match wide {
        ElementType::F64 => |b, [low, x, high]| minimum::<u64>(b, maximum::<u64>(b, x, low), high),
        ElementType::S64 => clamp::<true>,
        ElementType::U64 => clamp::<false>,
        _ => return None,
    })
}

/// Whether an element is not zero.
pub(super) fn is_nonzero(wide: ElementType) -> Option<Record> {
    Some(match wide {
        ElementType::F64 => |b, [x, ..]| truth(b, b.wide().compare(Compare::NotEqual, x, b.wide().constant(0)), false),
        ElementType::S64 | ElementType::U64 => {
            |b, [x, ..]| truth(b, b.wide().compare(Compare::EqualBits, x, b.wide().constant(0)), true)
        }
        _ => return None,
    })
}

/// The conversion between two types in which elements are computed, at least one of 64 bits.
pub(super) fn convert(from: ElementType, to: ElementType) -> Option<Record> {
    use ElementType::{C64, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};
    Some(match (from, to) {
        (F32, C64) => |b, [x, ..]| b.wide().convert(Conversion::ZeroExtend, x),
        (S64 | U64, S64 | U64) => |_, [x, ..]| x,
        (S64 | U64, S8 | S16 | S32 | U8 | U16 | U32) => |b, [x, ..]| b.wide().convert(Conversion::Low, x),
        (U32, S64 | U64) => |b, [x, ..]| b.wide().convert(Conversion::ZeroExtend, x),
        (S32, S64 | U64) => |b, [x, ..]| b.wide().convert(Conversion::SignExtend, x),
        (S16, S64 | U64) => |b, [x, ..]| b.wide().convert(Conversion::SignExtend, extended(b, x, S16)),
        (U16, S64 | U64) => |b, [x, ..]| b.wide().convert(Conversion::SignExtend, extended(b, x, U16)),
        (S8, S64 | U64) => |b, [x, ..]| b.wide().convert(Conversion::SignExtend, extended(b, x, S8)),
        (U8, S64 | U64) => |b, [x, ..]| b.wide().convert(Conversion::SignExtend, extended(b, x, U8)),
        (F32, F64) => |b, [x, ..]| b.wide().convert(Conversion::ToDouble, x),
        (F64, F32) => |b, [x, ..]| b.wide().convert(Conversion::ToFloat, x),
        (S32, F64) => |b, [x, ..]| b.wide().convert(Conversion::IntegerToDouble, x),
        (S16, F64) => |b, [x, ..]| b.wide().convert(Conversion::IntegerToDouble, extended(b, x, S16)),
        (U16, F64) => |b, [x, ..]| b.wide().convert(Conversion::IntegerToDouble, extended(b, x, U16)),
        (S8, F64) => |b, [x, ..]| b.wide().convert(Conversion::IntegerToDouble, extended(b, x, S8)),
        (U8, F64) => |b, [x, ..]| b.wide().convert(Conversion::IntegerToDouble, extended(b, x, U8)),
        (U32, F64) => |b, [x, ..]| to_double::<false>(b, b.wide().convert(Conversion::ZeroExtend, x)),
        (S64, F64) => |b, [x, ..]| to_double::<true>(b, x),
        (U64, F64) => |b, [x, ..]| to_double::<false>(b, x),
        _ => return None,
    })
}

/// The double nearest to an integer. The halves are the low bits of doubles of 2^52 and 2^84, whose difference from
/// these powers is exact; their sum is rounded once.
fn to_double<const SIGNED: bool>(b: &Builder, x: Value) -> Value {
    const POWER_52: u64 = 0x4330_0000_0000_0000;
    const POWER_84: u64 = 0x4530_0000_0000_0000;
    let flipped = if SIGNED { 1 << 31 } else { 0 };
    let low = b.wide().binary(WideBinary::And, x, b.wide().constant(0xffff_ffff));
    let low = b.wide().binary(WideBinary::Or, low, b.wide().constant(POWER_52));
    let high = b.wide().shift(Shift::Right, x, 32);
    let high = b.wide().binary(WideBinary::Xor, high, b.wide().constant(POWER_84 | flipped));
    // 2^84 + 2^52, and for signed integers the 2^63 that the changed top bit stands for.
    let powers = constant(b, f64::from_bits(POWER_84 | flipped) + f64::from_bits(POWER_52));
    b.wide().binary(WideBinary::Add, b.wide().binary(WideBinary::Subtract, high, powers), low)
}
