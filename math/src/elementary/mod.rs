//! Elementary functions of `f32` and `f64` without branches, so that loops of them become vector code.
//!
//! Each reduces its argument to an interval where a polynomial is enough. The functions are written once; [`Format`]
//! has the differences between the formats: constants, polynomials, and the care that the last bits need. Errors
//! against the standard library are tested: two or three units in the last place.

mod exp;
mod log;

pub use exp::{exp, expm1, half_exp, logistic, tanh};
pub(crate) use log::ln_corrected;
pub use log::{ln, ln_1p, log_add_exp, split};

use super::lane::{Bits, Lane};
use super::level::Level;

/// The requirements of the functions on a float format.
pub trait Format: Lane {
    /// Bits of the mantissa.
    const MANTISSA: u8;
    /// The bias of the exponent.
    const BIAS: i32;
    /// Adding it to a number rounds that to an integer, which is then in the lowest bits.
    const ROUNDER: Self;
    /// The least positive normal number.
    const MIN_POSITIVE: Self;
    /// Infinity.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// log2 e.
    const LOG2_E: Self;
    /// The root of 1/2, as bits.
    const ROOT_HALF: Self::Int;
    /// ln 2 in two parts; the product of the first one and an exponent is exact.
    const LN_2_PARTS: [Self; 2];
    /// Beyond these e^x is 0 or infinite.
    const EXP_RANGE: [Self; 2];
    /// Beyond it tanh x is 1.
    const TANH_END: Self;
    /// (tanh x - x) / x^3 in x^2, for an x below 2^-10, where the next term is below 2^-64; for formats with so many
    /// digits that other roundings show.
    const TANH_SERIES: Option<[Self; 2]>;
    /// Below it 2^n, and e^n, are nothing beside 1.
    const NO_BITS: Self;
    /// Below it e^x - 1 and ln(1 + x) are x.
    const TINY: Self;
    /// Above it the rounding errors of numbers are also numbers.
    const SMALL: Self;

    /// (e^r - 1 - r) / r^2 for an r of at most ln 2 / 2.
    fn exp_series<L: Level>(r: Self) -> Self;
    /// n ln 2 + ln(1 + f) for 1 + f between the root of 1/2 and that of 2, and a correction to add before the largest
    /// part.
    fn ln_parts<L: Level>(n: Self, f: Self, correction: Self) -> Self;
    /// (2 atanh(s) / s - 2) / s^2 in s^2, for an s of at most 1/3.
    fn atanh_series<L: Level>(z: Self) -> Self;
}

/// Sine, cosine and tangent.
pub trait Angles: Format + PartialOrd {
    /// Up to it the multiple of pi / 2 next to an angle has few enough bits for the functions of this trait.
    const EASY_ANGLES: Self;

    /// The sine of an easy angle.
    fn sine<L: Level>(x: Self) -> Self;
    /// The cosine of an easy angle.
    fn cosine<L: Level>(x: Self) -> Self;
    /// The tangent of an easy angle.
    fn tangent<L: Level>(x: Self) -> Self;
}

/// Whether sine, cosine and tangent of `x` are accurate.
#[inline(always)]
pub fn is_angle_easy<T: Angles>(x: T) -> bool {
    x.magnitude() <= T::EASY_ANGLES
}

/// `a * b + c`, fused if the processor does that at no cost.
#[inline(always)]
pub fn fma<L: Level, T: Lane>(a: T, b: T, c: T) -> T {
    if L::FUSED { a.fused(b, c) } else { a * b + c }
}

/// `a + b` and its rounding error, if `a` is larger or zero.
#[inline(always)]
pub fn sum<T: Lane>(a: T, b: T) -> [T; 2] {
    let sum = a + b;
    [sum, b - (sum - a)]
}

/// `a + b` and its rounding error, whichever is larger.
#[inline(always)]
pub fn exact_sum<T: Lane>(a: T, b: T) -> [T; 2] {
    let sum = a + b;
    let of_b = sum - a;
    [sum, (a - (sum - of_b)) + (b - of_b)]
}

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
pub fn polynomial<L: Level, T: Lane, const N: usize>(x: T, coefficients: &[T; N]) -> T {
    horner::<L, T, N>(
        x,
        #[inline(always)]
        |index| coefficients[index],
    )
}

/// The polynomial of `N` coefficients, which are given by their powers.
#[inline(always)]
pub fn horner<L: Level, T: Lane, const N: usize>(x: T, coefficient: impl Fn(usize) -> T) -> T {
    let mut sum = coefficient(N - 1);
    for index in (0..N - 1).rev() {
        sum = fma::<L, T>(sum, x, coefficient(index));
    }
    sum
}

/// The polynomial of `N` coefficients, which are given by their powers, by its even and odd powers side by side: one
/// operation more than [`horner`], in half as many steps that wait for each other.
#[inline(always)]
pub fn even_and_odd<L: Level, T: Lane, const N: usize>(x: T, coefficient: impl Fn(usize) -> T) -> T {
    const { assert!(N > 2, "a polynomial of even and odd powers") };
    let square = x * x;
    let [mut last, mut other] = [coefficient(N - 1), coefficient(N - 2)];
    for index in (0..N - 2).rev().step_by(2) {
        last = fma::<L, T>(last, square, coefficient(index));
        if index > 0 {
            other = fma::<L, T>(other, square, coefficient(index - 1));
        }
    }
    let [even, odd] = if N % 2 == 1 { [last, other] } else { [other, last] };
    fma::<L, T>(odd, x, even)
}

/// The nearest integer, as a float and as an integer; the number is less than [`Format::ROUNDER`]'s last bits hold.
#[inline(always)]
pub fn nearest<T: Format>(x: T) -> (T, T::Int) {
    let shifted = x + T::ROUNDER;
    (shifted - T::ROUNDER, shifted.bits().minus(T::ROUNDER.bits()))
}

/// The integer nearest to a product, as a float, and its sum with `offset` in the lowest bits of an integer that is not
/// negative; a shift to the exponent drops the bits above.
#[inline(always)]
pub fn nearest_to_product<L: Level, T: Format>(x: T, factor: T, offset: i32) -> (T, T::Int) {
    let rounder = T::ROUNDER + T::of(offset as f32);
    let shifted = fma::<L, T>(x, factor, rounder);
    (shifted - rounder, shifted.bits())
}

/// 2^n of a normal number.
#[inline(always)]
pub fn power_of_two<T: Format>(n: T::Int) -> T {
    T::of_bits(n.plus(T::Int::of(T::BIAS)).left(T::MANTISSA))
}

/// 2^n of a normal number, of an `n` with its bias in the lowest bits of an integer.
#[inline(always)]
pub fn power_of_two_of_biased<T: Format>(n: T::Int) -> T {
    T::of_bits(n.left(T::MANTISSA))
}

/// 1 / the square root.
#[inline(always)]
pub fn rsqrt<L: Level, T: Format>(x: T) -> T {
    let root = x.root();
    let result = T::of(1.0) / root;
    if !L::FUSED {
        return result;
    }
    // The rounding errors of the root and of the quotient. The sum is NaN for 0 and infinity, and has lost its digits
    // where squares are tiny.
    let of_root = fma::<L, T>(-root, root, x);
    let of_quotient = fma::<L, T>(-root, result, T::of(1.0));
    let lost = of_quotient - T::of(0.5) * of_root * result * result;
    let corrected = fma::<L, T>(result, lost, result);
    T::select(T::SMALL.less(x) & x.less(T::INFINITY), corrected, result)
}

/// The constants that follow from a format itself.
macro_rules! format {
    ($float:ident) => {
        const MANTISSA: u8 = $float::MANTISSA_DIGITS as u8 - 1;
        const BIAS: i32 = $float::MAX_EXP - 1;
        const ROUNDER: $float = 1.5 * (1u64 << ($float::MANTISSA_DIGITS - 1)) as $float;
        const MIN_POSITIVE: $float = $float::MIN_POSITIVE;
        const INFINITY: $float = $float::INFINITY;
        const NAN: $float = $float::NAN;
        const LOG2_E: $float = std::$float::consts::LOG2_E;
    };
}
pub(super) use format;
