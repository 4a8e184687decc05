//! Elementary functions of `f32` and `f64` without branches, so that loops of them become vector code.
//!
//! Each reduces its argument to an interval where a polynomial is enough. The functions are written once; [`Format`]
//! has the differences between the formats: constants, polynomials, and the care that the last bits need. Errors
//! against the standard library are tested: two or three units in the last place.

mod exp;
mod log;

use num_traits::{Float, FloatConst, NumCast, PrimInt, WrappingAdd, WrappingSub};

pub(crate) use exp::{exp, expm1, logistic, tanh};
pub(crate) use log::{ln, ln_1p, split};

use super::level::Level;

/// Integers as wide as a float.
pub(crate) trait Bits: PrimInt + WrappingAdd + WrappingSub {}

impl Bits for i32 {}
impl Bits for i64 {}

/// The requirements of the functions on a float format.
pub(crate) trait Format: Float + FloatConst {
    /// Signed integers of the same width.
    type Int: Bits;

    /// Bits of the mantissa.
    const MANTISSA: usize;
    /// The bias of the exponent.
    const BIAS: Self::Int;
    /// Adding it to a number rounds that to an integer, which is then in the lowest bits.
    const ROUNDER: Self;
    /// The root of 1/2, as bits.
    const ROOT_HALF: Self::Int;
    /// ln 2 in two parts; the product of the first one and an exponent is exact.
    const LN_2_PARTS: [Self; 2];
    /// Beyond these e^x is 0 or infinite.
    const EXP_RANGE: [Self; 2];
    /// Beyond it tanh x is 1.
    const TANH_END: Self;
    /// Below it 2^n is nothing beside 1.
    const NO_BITS: Self::Int;
    /// Below it e^x - 1 and ln(1 + x) are x.
    const TINY: Self;
    /// Above it the rounding errors of numbers are also numbers.
    const SMALL: Self;
    /// Up to it the multiple of pi / 2 next to an angle has few enough bits for [`Format::sine`] and the others.
    const EASY_ANGLES: Self;

    /// Its bits.
    fn bits(self) -> Self::Int;
    /// The number of these bits.
    fn of_bits(bits: Self::Int) -> Self;
    /// A number that both formats can represent.
    fn of(x: f32) -> Self;
    /// An exponent.
    fn of_exponent(n: Self::Int) -> Self;

    /// (e^r - 1 - r) / r^2 for an r of at most ln 2 / 2.
    fn exp_series<L: Level>(r: Self) -> Self;
    /// n ln 2 + ln(1 + f) for 1 + f between the root of 1/2 and that of 2, and a correction to add before the largest
    /// part.
    fn ln_parts<L: Level>(n: Self, f: Self, correction: Self) -> Self;
    /// The sine of an easy angle.
    fn sine<L: Level>(x: Self) -> Self;
    /// The cosine of an easy angle.
    fn cosine<L: Level>(x: Self) -> Self;
    /// The tangent of an easy angle.
    fn tangent<L: Level>(x: Self) -> Self;
}

/// Whether sine, cosine and tangent of `x` are accurate.
#[inline(always)]
pub(crate) fn is_angle_easy<T: Format>(x: T) -> bool {
    x.abs() <= T::EASY_ANGLES
}

/// `a * b + c`, fused if the processor does that at no cost.
#[inline(always)]
pub(crate) fn fma<L: Level, T: Float>(a: T, b: T, c: T) -> T {
    if L::FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// `a + b` and its rounding error, if `a` is larger or zero.
#[inline(always)]
pub(crate) fn sum<T: Float>(a: T, b: T) -> [T; 2] {
    let sum = a + b;
    [sum, b - (sum - a)]
}

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
pub(crate) fn polynomial<L: Level, T: Float, const N: usize>(x: T, coefficients: &[T; N]) -> T {
    let mut sum = coefficients[N - 1];
    for index in (0..N - 1).rev() {
        sum = fma::<L, T>(sum, x, coefficients[index]);
    }
    sum
}

/// The nearest integer, as a float and as an integer; the number is less than [`Format::ROUNDER`]'s last bits hold.
#[inline(always)]
pub(crate) fn nearest<T: Format>(x: T) -> (T, T::Int) {
    let shifted = x + T::ROUNDER;
    (shifted - T::ROUNDER, shifted.bits().wrapping_sub(&T::ROUNDER.bits()))
}

/// 2^n of a normal number.
#[inline(always)]
pub(crate) fn power_of_two<T: Format>(n: T::Int) -> T {
    T::of_bits(n.wrapping_add(&T::BIAS) << T::MANTISSA)
}

/// A small integer of any width.
#[inline(always)]
fn int<I: Bits>(n: i32) -> I {
    <I as NumCast>::from(n).unwrap_or_else(I::zero)
}

macro_rules! format {
    ($float:ident $int:ident { $($body:tt)* }) => {
        impl $crate::math::elementary::Format for $float {
            type Int = $int;

            const MANTISSA: usize = $float::MANTISSA_DIGITS as usize - 1;
            const BIAS: $int = $float::MAX_EXP as $int - 1;
            const ROUNDER: $float = 1.5 * (1u64 << ($float::MANTISSA_DIGITS - 1)) as $float;

            #[inline(always)]
            fn bits(self) -> $int {
                self.to_bits().cast_signed()
            }
            #[inline(always)]
            fn of_bits(bits: $int) -> $float {
                $float::from_bits(bits.cast_unsigned())
            }
            #[inline(always)]
            fn of(x: f32) -> $float {
                $float::from(x)
            }
            #[inline(always)]
            fn of_exponent(n: $int) -> $float {
                // Through 32 bits, whose conversions every vector unit has.
                n as i32 as $float
            }

            $($body)*
        }
    };
}
pub(super) use format;
