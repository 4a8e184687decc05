//! Comparison, selection and clamping; operations on bits of integers narrower than a byte.

use num_complex::Complex;
use oxcall_hlo::{ComparisonDirection, ElementType, UnaryOp};

use super::convert::{bits, by_float, by_integer, by_wide};
use super::function::{Function, Weight, Wide, binary, ternary, unary};
use super::level::Level;
use super::real::Real;
use super::round;

use Weight::{Heavy, Light};

/// Comparisons of `$T`s by keys that `$key` computes.
macro_rules! comparisons {
    ($direction:expr, $T:ty, $key:expr) => {
        match $direction {
            ComparisonDirection::Eq => binary::<L, $T, $T, u8, _>(Light, |x, y| u8::from($key(x) == $key(y))),
            ComparisonDirection::Ne => binary::<L, $T, $T, u8, _>(Light, |x, y| u8::from($key(x) != $key(y))),
            ComparisonDirection::Ge => binary::<L, $T, $T, u8, _>(Light, |x, y| u8::from($key(x) >= $key(y))),
            ComparisonDirection::Gt => binary::<L, $T, $T, u8, _>(Light, |x, y| u8::from($key(x) > $key(y))),
            ComparisonDirection::Le => binary::<L, $T, $T, u8, _>(Light, |x, y| u8::from($key(x) <= $key(y))),
            ComparisonDirection::Lt => binary::<L, $T, $T, u8, _>(Light, |x, y| u8::from($key(x) < $key(y))),
        }
    };
}

fn ordered<L: Level, T: Wide + PartialOrd>(direction: ComparisonDirection) -> Function {
    comparisons!(direction, T, |x: T| x)
}

fn totally_ordered<L: Level, T: Real>(direction: ComparisonDirection) -> Function {
    comparisons!(direction, T, |x: T| x.total_order())
}

fn complex<L: Level, T: Real>(direction: ComparisonDirection) -> Option<Function>
where
    Complex<T>: Wide,
{
    Some(match direction {
        ComparisonDirection::Eq => binary::<L, Complex<T>, Complex<T>, u8, _>(Light, |x, y| u8::from(x == y)),
        ComparisonDirection::Ne => binary::<L, Complex<T>, Complex<T>, u8, _>(Light, |x, y| u8::from(x != y)),
        _ => return None,
    })
}

/// The comparison of two elements; floats by IEEE 754's total order if `total`.
pub(crate) fn compare<L: Level>(direction: ComparisonDirection, wide: ElementType, total: bool) -> Option<Function> {
    use ElementType as E;
    let function = match wide {
        E::F32 if total => totally_ordered::<L, f32>(direction),
        E::F64 if total => totally_ordered::<L, f64>(direction),
        E::F32 => ordered::<L, f32>(direction),
        E::F64 => ordered::<L, f64>(direction),
        E::C64 => complex::<L, f32>(direction)?,
        E::C128 => complex::<L, f64>(direction)?,
        _ => by_integer!(wide, T => Some(ordered::<L, T>(direction)))?,
    };
    Some(function.named(direction.name(), 1.0))
}

/// `predicate ? x : y`.
pub(crate) fn select<L: Level>(wide: ElementType) -> Option<Function> {
    by_wide!(@ bits(wide), T => Some(ternary::<L, u8, T, T, T, _>(Light, |p: u8, x: T, y: T| if p != 0 { x } else { y }));
        U8 u8, U16 u16, U32 u32, U64 u64, C128 Complex<f64>)
    .map(|function| function.named("select", 1.0).giving(wide))
}

/// `min(max(x, low), high)`, of operands low, x, high; NaN if one is.
pub(crate) fn clamp<L: Level>(wide: ElementType) -> Option<Function> {
    let function = match wide {
        ElementType::F32 | ElementType::F64 => by_float!(wide, T => {
            Some(ternary::<L, T, T, T, T, _>(Light, |low: T, x: T, high: T| x.max_nan(low).min_nan(high)))
        }),
        _ => by_integer!(wide, T => {
            Some(ternary::<L, T, T, T, T, _>(Light, |low: T, x: T, high: T| Ord::min(Ord::max(x, low), high)))
        }),
    };
    function.map(|function| function.named("clamp", 2.0))
}

/// Rounds to a format whose exponent and mantissa bits are the second and third operand. XLA:CPU rounds 8-bit floats as
/// halves, which differs from rounding singles where the halves are subnormal.
pub(crate) fn reduce_precision<L: Level>(element: ElementType) -> Option<Function> {
    use ElementType::{F8E5M2, F8E5M2FNUZ};
    let function = match super::wide(element) {
        _ if matches!(element, F8E5M2 | F8E5M2FNUZ) => ternary::<L, f32, u32, u32, f32, _>(Light, round::reduce_f16),
        ElementType::F32 => ternary::<L, f32, u32, u32, f32, _>(Light, round::reduce_f32),
        ElementType::F64 => ternary::<L, f64, u32, u32, f64, _>(Light, round::reduce_f64),
        _ => return None,
    };
    Some(function.named("reduce_precision", 10.0))
}

/// The functions that keep a narrow integer, which takes a byte, in its range.
#[derive(Clone, Copy)]
pub(crate) struct Narrow {
    /// Sign-extends or clears the bits above.
    pub wrap: Function,
    /// Clears the bits above, even for signed integers.
    pub mask: Function,
    /// Copies the top bit to those above, even for unsigned integers.
    pub extend: Function,
    /// The nearest number in range.
    pub saturate: Function,
    /// The leading zeros of a number whose bits above are clear.
    pub leading_zeros: Function,
}

/// The functions of an integer type narrower than a byte; `None` for other types.
pub(crate) fn narrow<L: Level>(element: ElementType) -> Option<Narrow> {
    fn signed<L: Level, const BITS: u32>() -> Narrow {
        let extend = unary::<L, i8, i8, _>(Light, |x| x << (8 - BITS) >> (8 - BITS));
        Narrow {
            wrap: extend,
            extend,
            mask: unary::<L, i8, i8, _>(Light, |x| x & ((1 << BITS) - 1)),
            saturate: unary::<L, i8, i8, _>(Light, |x| x.clamp(-1 << (BITS - 1), (1 << (BITS - 1)) - 1)),
            leading_zeros: unary::<L, i8, i8, _>(Light, |x| x.leading_zeros() as i8 - (8 - BITS as i8)),
        }
    }
    fn unsigned<L: Level, const BITS: u32>() -> Narrow {
        let mask = unary::<L, u8, u8, _>(Light, |x| x & ((1 << BITS) - 1));
        Narrow {
            wrap: mask,
            mask,
            extend: unary::<L, u8, u8, _>(Light, |x| ((x << (8 - BITS)) as i8 >> (8 - BITS)) as u8),
            saturate: unary::<L, u8, u8, _>(Light, |x| x.min((1 << BITS) - 1)),
            leading_zeros: unary::<L, u8, u8, _>(Light, |x| x.leading_zeros() as u8 - (8 - BITS as u8)),
        }
    }
    let functions = match element {
        ElementType::S2 => signed::<L, 2>(),
        ElementType::S4 => signed::<L, 4>(),
        ElementType::U2 => unsigned::<L, 2>(),
        ElementType::U4 => unsigned::<L, 4>(),
        _ => return None,
    };
    Some(Narrow {
        wrap: functions.wrap.named("wrap", 1.0),
        mask: functions.mask.named("mask", 1.0),
        extend: functions.extend.named("extend", 1.0),
        saturate: functions.saturate.named("saturate", 1.0),
        leading_zeros: functions.leading_zeros.named(UnaryOp::CountLeadingZeros.name(), 1.0),
    })
}

/// The logical not of 0 or 1.
pub(crate) fn not<L: Level>() -> Function {
    unary::<L, u8, u8, _>(Heavy(1), |x| x ^ 1).named(UnaryOp::Not.name(), 1.0)
}
