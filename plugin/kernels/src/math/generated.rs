//! The functions of elements as operations of generated code.
//!
//! A lane has 32 bits; `wide` has the functions of elements of two lanes. The bits of an
//! element narrower than a lane are the lowest ones, and those above are unspecified: a function that depends on the
//! sign or the size of such an element extends it first.

mod complex;
mod division;
mod guarded;
mod quad;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
mod wide;

use oxcall_hlo::{BinaryOp, ComparisonDirection, ElementType, UnaryOp};
use oxcall_jit::{Binary, Builder, Compare, Conversion, Round, Shift, Unary, Value, Width};

pub(crate) use self::complex::{of_parts, product_by_parts};
pub(crate) use self::guarded::{Guard, binary as guarded_binary, unary as guarded_unary};
pub(crate) use self::quad::is_quad;
pub(crate) use self::wide::is_wide;
use super::elementary::{self, Format};
use super::lane::{Lane, Number};
use super::single;
use super::traced::{Generated, Traced, TracedFloat, Word};

/// Records a function of up to three values; those that it does not have are ignored.
pub(crate) type Record = fn(&Builder, [Value; 3]) -> Value;

/// Whether a lane holds an element of this type, in which elements are computed.
pub(crate) fn fits_lane(wide: ElementType) -> bool {
    use ElementType::{F32, S8, S16, S32, U8, U16, U32};
    matches!(wide, F32 | S32 | U32 | S16 | U16 | S8 | U8)
}

/// The number of lanes that an element takes; `None` if generated code does not have the type.
pub fn lanes_of(element: ElementType) -> Option<u8> {
    match element.byte_width() {
        _ if is_wide(element) => Some(2),
        1..=4 => Some(1),
        _ => None,
    }
}

/// The width of an element, or of the words that it consists of, as blocks read and write them.
pub(crate) fn width(element: ElementType) -> Width {
    match element.byte_width() {
        1 => Width::Byte,
        2 => Width::Half,
        _ => Width::Word,
    }
}

/// The width of an element in an array.
pub(crate) fn array_width(element: ElementType) -> Width {
    match () {
        () if is_wide(element) => Width::Pair,
        () if is_quad(element) => Width::Quad,
        () => width(element),
    }
}

/// Records a function of floats.
fn float<'g, W: Word>(
    builder: &'g Builder,
    x: Value,
    f: impl FnOnce(TracedFloat<'g, W>) -> TracedFloat<'g, W>,
) -> Value {
    f(TracedFloat(Traced::Value(builder, x))).0.value(builder)
}

/// Records a function of doubles, of floats and rounded to one.
fn in_double<'g, const N: usize>(
    b: &'g Builder,
    args: [Value; N],
    f: impl FnOnce([TracedFloat<'g, u64>; N]) -> TracedFloat<'g, u64>,
) -> Value {
    let args = args.map(|x| TracedFloat(Traced::Value(b, b.wide().convert(Conversion::ToDouble, x))));
    b.wide().convert(Conversion::ToFloat, f(args).0.value(b))
}

/// A constant float.
fn constant(builder: &Builder, x: f32) -> Value {
    builder.constant(x.to_bits())
}

/// The constant whose lowest bits are an element.
pub(crate) fn constant_of(builder: &Builder, element: ElementType, bits: u128) -> Value {
    match () {
        () if is_wide(element) => builder.wide().constant(bits as u64),
        () if is_quad(element) => {
            builder.joined([bits, bits >> u64::BITS].map(|part| builder.wide().constant(part as u64)))
        }
        () => builder.constant(bits as u32),
    }
}

/// The function of one element for `op`.
pub(crate) fn unary(op: UnaryOp, wide: ElementType) -> Option<Record> {
    match wide {
        ElementType::F32 => float_unary(op),
        _ if fits_lane(wide) => integer_unary(op, wide),
        _ if is_wide(wide) => self::wide::unary(op, wide),
        _ if is_quad(wide) => self::quad::unary(op),
        _ => None,
    }
}

/// The function of one float for `op`, if it is the same for all formats.
fn lane_unary<W: Word>(op: UnaryOp) -> Option<Record>
where
    for<'g> TracedFloat<'g, W>: Format,
{
    Some(match op {
        UnaryOp::Abs => |b, [x, ..]| float::<W>(b, x, Lane::magnitude),
        UnaryOp::Negate => |b, [x, ..]| float::<W>(b, x, |x| -x),
        UnaryOp::Square => |b, [x, ..]| float::<W>(b, x, |x| x * x),
        UnaryOp::Sqrt => |b, [x, ..]| float::<W>(b, x, Lane::root),
        UnaryOp::Rsqrt => |b, [x, ..]| float::<W>(b, x, elementary::rsqrt::<Generated, _>),
        UnaryOp::Exponential => |b, [x, ..]| float::<W>(b, x, elementary::exp::<Generated, _>),
        UnaryOp::ExponentialMinusOne => |b, [x, ..]| float::<W>(b, x, elementary::expm1::<Generated, _>),
        UnaryOp::Log => |b, [x, ..]| float::<W>(b, x, elementary::ln::<Generated, _>),
        UnaryOp::LogPlusOne => |b, [x, ..]| float::<W>(b, x, elementary::ln_1p::<Generated, _>),
        UnaryOp::Logistic => |b, [x, ..]| float::<W>(b, x, elementary::logistic::<Generated, _>),
        UnaryOp::Tanh => |b, [x, ..]| float::<W>(b, x, elementary::tanh::<Generated, _>),
        UnaryOp::Sign => |b, [x, ..]| {
            float::<W>(b, x, |x| {
                let is_signed = TracedFloat::of(0.0).less(x.magnitude());
                TracedFloat::select(is_signed, TracedFloat::of(1.0).with_sign(x), x)
            })
        },
        UnaryOp::Real | UnaryOp::Conj => |_, [x, ..]| x,
        _ => return None,
    })
}

fn float_unary(op: UnaryOp) -> Option<Record> {
    if let Some(record) = lane_unary::<u32>(op) {
        return Some(record);
    }
    Some(match op {
        UnaryOp::Erf => |b, [x, ..]| float::<u32>(b, x, single::erf::<Generated, _>),
        UnaryOp::Erfc => |b, [x, ..]| float::<u32>(b, x, single::erfc::<Generated, _>),
        UnaryOp::ErfInv => |b, [x, ..]| float::<u32>(b, x, single::erf_inv::<Generated, _>),
        UnaryOp::Sinh => |b, [x, ..]| in_double(b, [x], |[x]| single::sinh_in_double::<Generated, _>(x)),
        UnaryOp::Cosh => |b, [x, ..]| in_double(b, [x], |[x]| single::cosh_in_double::<Generated, _>(x)),
        UnaryOp::Asinh => |b, [x, ..]| in_double(b, [x], |[x]| single::asinh_in_double::<Generated, _>(x)),
        UnaryOp::Acosh => |b, [x, ..]| in_double(b, [x], |[x]| single::acosh_in_double::<Generated, _>(x)),
        UnaryOp::Atanh => |b, [x, ..]| in_double(b, [x], |[x]| single::atanh_in_double::<Generated, _>(x)),
        UnaryOp::Asin => |b, [x, ..]| in_double(b, [x], |[x]| single::asin_in_double::<Generated, _>(x)),
        UnaryOp::Acos => |b, [x, ..]| in_double(b, [x], |[x]| single::acos_in_double::<Generated, _>(x)),
        UnaryOp::BesselI0e => |b, [x, ..]| in_double(b, [x], |[x]| single::i0e_in_double::<Generated, _>(x)),
        UnaryOp::BesselI1e => |b, [x, ..]| in_double(b, [x], |[x]| single::i1e_in_double::<Generated, _>(x)),
        UnaryOp::Floor => |b, [x, ..]| b.unary(Unary::Round(Round::Floor), x),
        UnaryOp::Ceil => |b, [x, ..]| b.unary(Unary::Round(Round::Ceil), x),
        UnaryOp::RoundNearestEven => |b, [x, ..]| b.unary(Unary::Round(Round::Even), x),
        UnaryOp::RoundNearestAfz => |b, [x, ..]| {
            // The number below a half: the sum of 0.5 and the one before it would round to 1.
            let moved = float::<u32>(b, x, |x| x + TracedFloat::of(0.5_f32.next_down()).with_sign(x));
            b.unary(Unary::Round(Round::Truncate), moved)
        },
        UnaryOp::IsFinite => |b, [x, ..]| {
            let size = float::<u32>(b, x, Lane::magnitude);
            b.truth(b.compare(Compare::Less, size, constant(b, f32::INFINITY)))
        },
        _ => return None,
    })
}

fn integer_unary(op: UnaryOp, wide: ElementType) -> Option<Record> {
    Some(match op {
        UnaryOp::Negate => |b, [x, ..]| b.binary(Binary::SubtractBits, b.constant(0), x),
        UnaryOp::Not => |b, [x, ..]| b.not(x),
        UnaryOp::Square => |b, [x, ..]| b.binary(Binary::MultiplyBits, x, x),
        UnaryOp::Abs if !wide.is_signed() => |_, [x, ..]| x,
        UnaryOp::Abs if wide == ElementType::S32 => {
            |b, [x, ..]| b.binary(Binary::MaxSigned, x, b.binary(Binary::SubtractBits, b.constant(0), x))
        }
        UnaryOp::Abs if wide == ElementType::S16 => |b, [x, ..]| narrow_magnitude(b, x, ElementType::S16),
        UnaryOp::Abs => |b, [x, ..]| narrow_magnitude(b, x, ElementType::S8),
        UnaryOp::Sign => match wide {
            ElementType::S32 => |b, [x, ..]| sign(b, x),
            ElementType::S16 => |b, [x, ..]| sign(b, extended(b, x, ElementType::S16)),
            ElementType::S8 => |b, [x, ..]| sign(b, extended(b, x, ElementType::S8)),
            ElementType::U16 => |b, [x, ..]| sign(b, extended(b, x, ElementType::U16)),
            ElementType::U8 => |b, [x, ..]| sign(b, extended(b, x, ElementType::U8)),
            _ => |b, [x, ..]| b.binary(Binary::MinUnsigned, x, b.constant(1)),
        },
        UnaryOp::Popcnt => match wide.byte_width() {
            1 => |b, [x, ..]| ones(b, extended(b, x, ElementType::U8)),
            2 => |b, [x, ..]| ones(b, extended(b, x, ElementType::U16)),
            _ => |b, [x, ..]| ones(b, x),
        },
        UnaryOp::CountLeadingZeros => match wide.byte_width() {
            1 => |b, [x, ..]| leading_zeros(b, x, ElementType::U8),
            2 => |b, [x, ..]| leading_zeros(b, x, ElementType::U16),
            _ => |b, [x, ..]| leading_zeros(b, x, ElementType::U32),
        },
        _ => return None,
    })
}

/// -1, 0 or 1.
fn sign(b: &Builder, x: Value) -> Value {
    let above = b.binary(Binary::MinSigned, x, b.constant(1));
    b.binary(Binary::MaxSigned, above, b.constant(u32::MAX))
}

/// The absolute value, of which no step needs more bits than the element has.
fn narrow_magnitude(b: &Builder, x: Value, wide: ElementType) -> Value {
    let signs = b.compare(Compare::Greater, b.constant(0), extended(b, x, wide));
    b.binary(Binary::SubtractBits, b.binary(Binary::Xor, x, signs), signs)
}

/// The number of ones in a lane: sums of neighbours, of two bits, then of four, then of bytes.
fn ones(b: &Builder, x: Value) -> Value {
    let of = |x: Value, mask: u32| b.binary(Binary::And, x, b.constant(mask));
    let right = |x: Value, by: u8| b.shift(Shift::Right, x, by);
    let pairs = b.binary(Binary::SubtractBits, x, of(right(x, 1), 0x5555_5555));
    let fours = b.binary(Binary::AddBits, of(pairs, 0x3333_3333), of(right(pairs, 2), 0x3333_3333));
    let bytes = of(b.binary(Binary::AddBits, fours, right(fours, 4)), 0x0f0f_0f0f);
    // The product's highest byte is the sum of all four.
    right(b.binary(Binary::MultiplyBits, bytes, b.constant(0x0101_0101)), 24)
}

/// The number of zeros above the highest one of an element: those that are left if all below it are ones.
fn leading_zeros(b: &Builder, x: Value, unsigned: ElementType) -> Value {
    let mut filled = extended(b, x, unsigned);
    for by in [1, 2, 4, 8, 16].into_iter().filter(|&by| usize::from(by) < 8 * unsigned.byte_width()) {
        filled = b.binary(Binary::Or, filled, b.shift(Shift::Right, filled, by));
    }
    b.binary(Binary::SubtractBits, b.constant(8 * unsigned.byte_width() as u32), ones(b, filled))
}

/// The function of two elements for `op`.
pub(crate) fn binary(op: BinaryOp, wide: ElementType) -> Option<Record> {
    match wide {
        ElementType::F32 => float_binary(op),
        _ if fits_lane(wide) => integer_binary(op, wide),
        _ if is_wide(wide) => self::wide::binary(op, wide),
        _ if is_quad(wide) => self::quad::binary(op),
        _ => None,
    }
}

fn float_binary(op: BinaryOp) -> Option<Record> {
    Some(match op {
        BinaryOp::Add => |b, [x, y, _]| b.binary(Binary::Add, x, y),
        BinaryOp::Subtract => |b, [x, y, _]| b.binary(Binary::Subtract, x, y),
        BinaryOp::Multiply => |b, [x, y, _]| b.binary(Binary::Multiply, x, y),
        BinaryOp::Divide => |b, [x, y, _]| b.binary(Binary::Divide, x, y),
        BinaryOp::Maximum => |b, [x, y, _]| maximum::<u32>(b, x, y),
        BinaryOp::Minimum => |b, [x, y, _]| minimum::<u32>(b, x, y),
        _ => return None,
    })
}

/// 1 - erf x, of x and e^-(x x).
pub(crate) fn erfc_of_exp(builder: &Builder, [x, exp, _]: [Value; 3]) -> Value {
    let exp = TracedFloat(Traced::Value(builder, exp));
    float::<u32>(builder, x, |x| single::erfc_of_exp::<Generated, _>(x, exp))
}

/// The larger; NaN if one is; +0 rather than -0.
fn maximum<W: Word>(b: &Builder, x: Value, y: Value) -> Value {
    let is_above = |op: Compare, x: Value, y: Value| W::compare(b, op, [y, x]);
    extreme::<W>(b, [x, y], W::and, W::NEGATIVE_ZERO, is_above)
}

/// The smaller; NaN if one is; -0 rather than +0.
fn minimum<W: Word>(b: &Builder, x: Value, y: Value) -> Value {
    let is_below = |op: Compare, x: Value, y: Value| W::compare(b, op, [x, y]);
    extreme::<W>(b, [x, y], W::or, W::ZERO, is_below)
}

/// `x` or `y`: the one that is before the other. Equal numbers are zeros or have the same bits, so that `join` gives
/// the right zero, which `wrong` is not.
fn extreme<W: Word>(
    b: &Builder,
    [x, y]: [Value; 2],
    join: fn(&Builder, [Value; 2]) -> Value,
    wrong: W,
    is_before: impl Fn(Compare, Value, Value) -> Value,
) -> Value {
    let (x, y) = if W::known(b, x).is_some() { (y, x) } else { (x, y) };
    if W::known(b, y).is_some_and(|y| !y.is_nan() && y != wrong) {
        return W::select(b, [is_before(Compare::LessOrEqual, y, x), y, x]);
    }
    let apart = W::select(b, [is_before(Compare::Less, x, y), x, y]);
    let number = W::select(b, [W::compare(b, Compare::Equal, [x, x]), apart, x]);
    W::select(b, [W::compare(b, Compare::Equal, [x, y]), join(b, [x, y]), number])
}

fn integer_binary(op: BinaryOp, wide: ElementType) -> Option<Record> {
    use ElementType::{S8, S16, S32, U8, U16, U32};
    Some(match (op, wide) {
        (BinaryOp::Add, _) => |b, [x, y, _]| b.binary(Binary::AddBits, x, y),
        (BinaryOp::Subtract, _) => |b, [x, y, _]| b.binary(Binary::SubtractBits, x, y),
        (BinaryOp::Multiply, _) => |b, [x, y, _]| b.binary(Binary::MultiplyBits, x, y),
        (BinaryOp::And, _) => |b, [x, y, _]| b.binary(Binary::And, x, y),
        (BinaryOp::Or, _) => |b, [x, y, _]| b.binary(Binary::Or, x, y),
        (BinaryOp::Xor, _) => |b, [x, y, _]| b.binary(Binary::Xor, x, y),
        (BinaryOp::Divide, S32) => |b, args| division::quotient(b, args, S32),
        (BinaryOp::Divide, U32) => |b, args| division::quotient(b, args, U32),
        (BinaryOp::Divide, S16) => |b, args| division::quotient(b, args, S16),
        (BinaryOp::Divide, U16) => |b, args| division::quotient(b, args, U16),
        (BinaryOp::Divide, S8) => |b, args| division::quotient(b, args, S8),
        (BinaryOp::Divide, U8) => |b, args| division::quotient(b, args, U8),
        (BinaryOp::Remainder, S32) => |b, args| division::remainder(b, args, S32),
        (BinaryOp::Remainder, U32) => |b, args| division::remainder(b, args, U32),
        (BinaryOp::Remainder, S16) => |b, args| division::remainder(b, args, S16),
        (BinaryOp::Remainder, U16) => |b, args| division::remainder(b, args, U16),
        (BinaryOp::Remainder, S8) => |b, args| division::remainder(b, args, S8),
        (BinaryOp::Remainder, U8) => |b, args| division::remainder(b, args, U8),
        (BinaryOp::ShiftLeft, S32 | U32) => |b, [x, y, _]| b.binary(Binary::ShiftLeft, x, y),
        (BinaryOp::ShiftRightLogical, S32 | U32) => |b, [x, y, _]| b.binary(Binary::ShiftRight, x, y),
        (BinaryOp::ShiftRightArithmetic, S32 | U32) => |b, [x, y, _]| b.binary(Binary::ShiftRightArithmetic, x, y),
        // The amount is an unsigned number.
        (BinaryOp::ShiftLeft, S16 | U16) => |b, [x, y, _]| b.binary(Binary::ShiftLeft, x, extended(b, y, U16)),
        (BinaryOp::ShiftLeft, S8 | U8) => |b, [x, y, _]| b.binary(Binary::ShiftLeft, x, extended(b, y, U8)),
        (BinaryOp::ShiftRightLogical, S16 | U16) => |b, args| narrow(b, args, [U16, U16], Binary::ShiftRight),
        (BinaryOp::ShiftRightLogical, S8 | U8) => |b, args| narrow(b, args, [U8, U8], Binary::ShiftRight),
        (BinaryOp::ShiftRightArithmetic, S16 | U16) => {
            |b, args| narrow(b, args, [S16, U16], Binary::ShiftRightArithmetic)
        }
        (BinaryOp::ShiftRightArithmetic, S8 | U8) => |b, args| narrow(b, args, [S8, U8], Binary::ShiftRightArithmetic),
        (BinaryOp::Maximum, S32) => |b, [x, y, _]| b.binary(Binary::MaxSigned, x, y),
        (BinaryOp::Minimum, S32) => |b, [x, y, _]| b.binary(Binary::MinSigned, x, y),
        (BinaryOp::Maximum, U32) => |b, [x, y, _]| b.binary(Binary::MaxUnsigned, x, y),
        (BinaryOp::Minimum, U32) => |b, [x, y, _]| b.binary(Binary::MinUnsigned, x, y),
        (BinaryOp::Maximum, S16) => |b, args| narrow(b, args, [S16; 2], Binary::MaxSigned),
        (BinaryOp::Minimum, S16) => |b, args| narrow(b, args, [S16; 2], Binary::MinSigned),
        (BinaryOp::Maximum, U16) => |b, args| narrow(b, args, [U16; 2], Binary::MaxSigned),
        (BinaryOp::Minimum, U16) => |b, args| narrow(b, args, [U16; 2], Binary::MinSigned),
        (BinaryOp::Maximum, S8) => |b, args| narrow(b, args, [S8; 2], Binary::MaxSigned),
        (BinaryOp::Minimum, S8) => |b, args| narrow(b, args, [S8; 2], Binary::MinSigned),
        (BinaryOp::Maximum, U8) => |b, args| narrow(b, args, [U8; 2], Binary::MaxSigned),
        (BinaryOp::Minimum, U8) => |b, args| narrow(b, args, [U8; 2], Binary::MinSigned),
        _ => return None,
    })
}

/// A function of two elements narrower than a lane, which are extended as elements of these types.
fn narrow(b: &Builder, [x, y, _]: [Value; 3], [of_x, of_y]: [ElementType; 2], op: Binary) -> Value {
    b.binary(op, extended(b, x, of_x), extended(b, y, of_y))
}

/// An integer in all bits of its lane.
fn extended(b: &Builder, x: Value, wide: ElementType) -> Value {
    let above = 32 - 8 * wide.byte_width() as u8;
    match b.known(x) {
        _ if above == 0 => x,
        Some(bits) if wide.is_signed() => b.constant((bits.cast_signed() << above >> above).cast_unsigned()),
        Some(bits) => b.constant(bits << above >> above),
        None if wide.is_signed() => b.shift(Shift::RightArithmetic, b.shift(Shift::Left, x, above), above),
        None if b.fits(x, width(wide)) => x,
        None => b.binary(Binary::And, x, b.constant(u32::MAX >> above)),
    }
}

/// The logical not of 0 or 1.
pub(crate) fn not() -> Option<Record> {
    Some(|b, [x, ..]| b.truth(b.not(b.mask(extended(b, x, ElementType::U8)))))
}

/// A comparison of integers, or of what `$key` makes of each operand.
macro_rules! comparisons {
    ($direction:expr, $wide:ident $(, $key:path)?) => {
        match $direction {
            ComparisonDirection::Eq => |b, args| equal(b, comparisons!(@ b, args $(, $key)?), ElementType::$wide, false),
            ComparisonDirection::Ne => |b, args| equal(b, comparisons!(@ b, args $(, $key)?), ElementType::$wide, true),
            ComparisonDirection::Lt => {
                |b, [x, y, z]| above(b, comparisons!(@ b, [y, x, z] $(, $key)?), ElementType::$wide, false)
            }
            ComparisonDirection::Ge => {
                |b, [x, y, z]| above(b, comparisons!(@ b, [y, x, z] $(, $key)?), ElementType::$wide, true)
            }
            ComparisonDirection::Gt => |b, args| above(b, comparisons!(@ b, args $(, $key)?), ElementType::$wide, false),
            ComparisonDirection::Le => |b, args| above(b, comparisons!(@ b, args $(, $key)?), ElementType::$wide, true),
        }
    };
    (@ $b:ident, $args:expr) => { $args };
    (@ $b:ident, $args:expr, $key:path) => { $args.map(|x| $key($b, x)) };
}

/// The comparison of two floats by IEEE 754's total order.
pub(crate) fn compare_totally(direction: ComparisonDirection, wide: ElementType) -> Option<Record> {
    match wide {
        ElementType::F32 => Some(comparisons!(direction, S32, total_order)),
        ElementType::F64 => Some(self::wide::compare_totally(direction)),
        _ => None,
    }
}

/// The integer of a float, which has its place in the total order: the other bits of a negative one are inverted.
fn total_order(b: &Builder, x: Value) -> Value {
    let signs = b.shift(Shift::RightArithmetic, x, 31);
    b.binary(Binary::Xor, x, b.shift(Shift::Right, signs, 1))
}

/// The comparison of two elements.
pub(crate) fn compare(direction: ComparisonDirection, wide: ElementType) -> Option<Record> {
    use ElementType::{F32, S8, S16, S32, U8, U16, U32};
    Some(match wide {
        F32 => match direction {
            ComparisonDirection::Eq => |b, [x, y, _]| b.truth(b.compare(Compare::Equal, x, y)),
            ComparisonDirection::Ne => |b, [x, y, _]| b.truth(b.compare(Compare::NotEqual, x, y)),
            ComparisonDirection::Lt => |b, [x, y, _]| b.truth(b.compare(Compare::Less, x, y)),
            ComparisonDirection::Le => |b, [x, y, _]| b.truth(b.compare(Compare::LessOrEqual, x, y)),
            ComparisonDirection::Gt => |b, [x, y, _]| b.truth(b.compare(Compare::Less, y, x)),
            ComparisonDirection::Ge => |b, [x, y, _]| b.truth(b.compare(Compare::LessOrEqual, y, x)),
        },
        S32 => comparisons!(direction, S32),
        U32 => comparisons!(direction, U32),
        S16 => comparisons!(direction, S16),
        U16 => comparisons!(direction, U16),
        S8 => comparisons!(direction, S8),
        U8 => comparisons!(direction, U8),
        _ if is_wide(wide) => return self::wide::compare(direction, wide),
        _ if is_quad(wide) => return self::quad::compare(direction),
        _ => return None,
    })
}

/// The truth of a mask, or of its opposite.
fn truth(b: &Builder, mask: Value, opposite: bool) -> Value {
    b.truth(if opposite { b.not(mask) } else { mask })
}

/// The truth of `x == y`, of integers; that of `x != y` if `opposite`.
fn equal(b: &Builder, [x, y, _]: [Value; 3], wide: ElementType, opposite: bool) -> Value {
    truth(b, b.compare(Compare::EqualBits, extended(b, x, wide), extended(b, y, wide)), opposite)
}

/// The truth of `x > y`, of integers; that of `x <= y` if `opposite`.
fn above(b: &Builder, args: [Value; 3], wide: ElementType, opposite: bool) -> Value {
    let [x, y, _] = args.map(|x| match wide {
        // Changing the top bits maps the order of unsigned integers to that of signed ones.
        ElementType::U32 => b.binary(Binary::Xor, x, b.constant(1 << 31)),
        _ => extended(b, x, wide),
    });
    truth(b, b.compare(Compare::Greater, x, y), opposite)
}

/// `predicate ? x : y`.
pub(crate) fn select(wide: ElementType) -> Option<Record> {
    match wide {
        _ if fits_lane(wide) => Some(|b, [p, x, y]| b.select(b.mask(extended(b, p, ElementType::U8)), x, y)),
        _ if is_wide(wide) => Some(self::wide::select()),
        _ if is_quad(wide) => Some(self::quad::select()),
        _ => None,
    }
}

/// `min(max(x, low), high)`, of operands low, x, high.
pub(crate) fn clamp(wide: ElementType) -> Option<Record> {
    Some(match wide {
        ElementType::F32 => |b, [low, x, high]| minimum::<u32>(b, maximum::<u32>(b, x, low), high),
        ElementType::S32 => |b, [low, x, high]| b.binary(Binary::MinSigned, b.binary(Binary::MaxSigned, x, low), high),
        ElementType::U32 => {
            |b, [low, x, high]| b.binary(Binary::MinUnsigned, b.binary(Binary::MaxUnsigned, x, low), high)
        }
        ElementType::S16 => |b, args| narrow_clamp(b, args, ElementType::S16),
        ElementType::U16 => |b, args| narrow_clamp(b, args, ElementType::U16),
        ElementType::S8 => |b, args| narrow_clamp(b, args, ElementType::S8),
        ElementType::U8 => |b, args| narrow_clamp(b, args, ElementType::U8),
        _ if is_wide(wide) => return self::wide::clamp_of(wide),
        _ => return None,
    })
}

fn narrow_clamp(b: &Builder, args: [Value; 3], wide: ElementType) -> Value {
    let [low, x, high] = args.map(|x| extended(b, x, wide));
    b.binary(Binary::MinSigned, b.binary(Binary::MaxSigned, x, low), high)
}

/// Whether an element is not zero.
pub(crate) fn is_nonzero(wide: ElementType) -> Option<Record> {
    Some(match wide {
        ElementType::F32 => |b, [x, ..]| b.truth(b.compare(Compare::NotEqual, x, b.constant(0))),
        ElementType::S32 | ElementType::U32 => {
            |b, [x, ..]| truth(b, b.compare(Compare::EqualBits, x, b.constant(0)), true)
        }
        ElementType::U8 | ElementType::S8 => |b, [x, ..]| b.truth(b.mask(extended(b, x, ElementType::U8))),
        ElementType::U16 | ElementType::S16 => |b, [x, ..]| b.truth(b.mask(extended(b, x, ElementType::U16))),
        _ if is_wide(wide) => return self::wide::is_nonzero(wide),
        _ => return None,
    })
}

/// The conversion from one type in which elements are computed to another.
pub(crate) fn convert(from: ElementType, to: ElementType) -> Option<Record> {
    use ElementType::{F32, S8, S16, S32, U8, U16, U32};
    Some(match (from, to) {
        (S32, F32) => |b, [x, ..]| b.unary(Unary::ToFloat, x),
        (S16, F32) => |b, [x, ..]| b.unary(Unary::ToFloat, extended(b, x, S16)),
        (U16, F32) => |b, [x, ..]| b.unary(Unary::ToFloat, extended(b, x, U16)),
        (S8, F32) => |b, [x, ..]| b.unary(Unary::ToFloat, extended(b, x, S8)),
        (U8, F32) => |b, [x, ..]| b.unary(Unary::ToFloat, extended(b, x, U8)),
        // Both halves are exact, so the sum is rounded once.
        (U32, F32) => |b, [x, ..]| {
            let high = b.unary(Unary::ToFloat, b.shift(Shift::Right, x, 16));
            let low = b.unary(Unary::ToFloat, b.binary(Binary::And, x, b.constant(0xffff)));
            b.fused(high, constant(b, 65536.0), low)
        },
        (F32, S32) => |b, [x, ..]| to_signed(b, x),
        (F32, U32) => |b, [x, ..]| to_unsigned(b, x),
        (F32, S16) => |b, [x, ..]| saturated(b, x, i16::MIN.into(), i16::MAX.into()),
        (F32, U16) => |b, [x, ..]| saturated(b, x, 0, u16::MAX.into()),
        (F32, S8) => |b, [x, ..]| saturated(b, x, i8::MIN.into(), i8::MAX.into()),
        (F32, U8) => |b, [x, ..]| saturated(b, x, 0, u8::MAX.into()),
        _ if is_quad(from) || is_quad(to) => return self::quad::convert(from, to),
        _ if is_wide(from) || is_wide(to) => return self::wide::convert(from, to),
        _ if !fits_lane(from) || !fits_lane(to) || from == F32 || to == F32 => return None,
        _ if to.byte_width() <= from.byte_width() => |_, [x, ..]| x,
        (S16, _) => |b, [x, ..]| extended(b, x, S16),
        (U16, _) => |b, [x, ..]| extended(b, x, U16),
        (S8, _) => |b, [x, ..]| extended(b, x, S8),
        (U8, _) => |b, [x, ..]| extended(b, x, U8),
        _ => return None,
    })
}

/// 2^31.
const TOP: f32 = 2_147_483_648.0;

/// A float, truncated and saturated; 0 of NaN.
fn to_signed(b: &Builder, x: Value) -> Value {
    let truncated = b.unary(Unary::ToInteger, x);
    let is_large = b.compare(Compare::LessOrEqual, constant(b, TOP), x);
    let saturated = b.select(is_large, b.constant(i32::MAX.cast_unsigned()), truncated);
    b.binary(Binary::And, saturated, b.compare(Compare::Equal, x, x))
}

/// As [`to_signed`], for unsigned integers.
fn to_unsigned(b: &Builder, x: Value) -> Value {
    let low = b.unary(Unary::ToInteger, x);
    let high = b.unary(Unary::ToInteger, b.binary(Binary::Subtract, x, constant(b, TOP)));
    let high = b.binary(Binary::Xor, high, b.constant(1 << 31));
    let is_high = b.compare(Compare::LessOrEqual, constant(b, TOP), x);
    let is_large = b.compare(Compare::LessOrEqual, constant(b, 2.0 * TOP), x);
    let integer = b.select(is_large, b.constant(u32::MAX), b.select(is_high, high, low));
    // Negative numbers and NaN are not above zero.
    b.binary(Binary::And, integer, b.compare(Compare::Less, b.constant(0), x))
}

/// A float, truncated and saturated to a range of integers; 0 of NaN.
fn saturated(b: &Builder, x: Value, low: i32, high: i32) -> Value {
    let above = b.binary(Binary::MaxSigned, to_signed(b, x), b.constant(low.cast_unsigned()));
    b.binary(Binary::MinSigned, above, b.constant(high.cast_unsigned()))
}

/// The functions that load, store and round elements of a narrow float type.
pub(crate) fn packed(element: ElementType) -> Option<[Record; 3]> {
    match element {
        ElementType::BF16 => Some([
            |b, [x, ..]| b.shift(Shift::Left, x, 16),
            |b, [x, ..]| b.shift(Shift::Right, to_bf16(b, x), 16),
            |b, [x, ..]| to_bf16(b, x),
        ]),
        ElementType::F16 => Some([
            |b, [x, ..]| b.unary(Unary::OfHalf, extended(b, x, ElementType::U16)),
            |b, [x, ..]| b.unary(Unary::ToHalf, x),
            |b, [x, ..]| b.unary(Unary::RoundToHalf, x),
        ]),
        _ => None,
    }
}

/// As [`round::to_bf16`](super::round::to_bf16).
fn to_bf16(b: &Builder, x: Value) -> Value {
    const UPPER: u32 = 0xffff_0000;
    if b.zeros(x) & !UPPER == !UPPER {
        return x;
    }
    let last = b.binary(Binary::And, b.shift(Shift::Right, x, 16), b.constant(1));
    let half = b.binary(Binary::AddBits, last, b.constant(0x7fff));
    let rounded = b.binary(Binary::And, b.binary(Binary::AddBits, x, half), b.constant(UPPER));
    let quiet = b.binary(Binary::Or, x, b.constant(0x0040_0000));
    let nan = b.binary(Binary::And, quiet, b.constant(UPPER));
    b.select(b.compare(Compare::NotEqual, x, x), nan, rounded)
}
