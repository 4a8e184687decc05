//! Logarithms.

use num_traits::{One, WrappingSub};

use super::{Format, Level, power_of_two};

/// n and m of a positive normal x = 2^n m, with m from the root of 1/2 to that of 2.
#[inline(always)]
pub(crate) fn split<T: Format>(x: T) -> (T::Int, T) {
    let shifted = x.bits().wrapping_sub(&T::ROOT_HALF);
    let mantissa = (T::Int::one() << T::MANTISSA) - T::Int::one();
    (shifted >> T::MANTISSA, T::of_bits((shifted & mantissa) + T::ROOT_HALF))
}

/// ln x.
#[inline(always)]
pub(crate) fn ln<L: Level, T: Format>(x: T) -> T {
    plus::<L, T>(x, T::zero())
}

/// ln(1 + x).
#[inline(always)]
pub(crate) fn ln_1p<L: Level, T: Format>(x: T) -> T {
    let u = T::one() + x;
    // The rounding error of the sum; divided by u, it is the change of the logarithm.
    let lost = (x - (u - T::one())) / u;
    let is_odd = !(u > T::zero() && u < T::infinity());
    let result = plus::<L, T>(u, if is_odd { T::zero() } else { lost });
    // Also keeps -0.
    if x.abs() < T::TINY { x } else { result }
}

/// ln x, and a correction that is added before the largest part.
#[inline(always)]
fn plus<L: Level, T: Format>(x: T, correction: T) -> T {
    let digits = super::int(T::MANTISSA as i32);
    let is_subnormal = x < T::min_positive_value();
    let scaled = if is_subnormal { x * power_of_two::<T>(digits) } else { x };
    let (n, m) = split(scaled);
    let n = T::of_exponent(n) - if is_subnormal { T::of_exponent(digits) } else { T::zero() };
    let result = T::ln_parts::<L>(n, m - T::one(), correction);
    match () {
        () if x == T::zero() => T::neg_infinity(),
        () if x < T::zero() => T::nan(),
        () if x < T::infinity() => result,
        // Infinity and NaN.
        () => x,
    }
}
