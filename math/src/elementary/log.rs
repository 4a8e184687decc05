//! Logarithms.

use super::{Format, Level, exp, fma, power_of_two};
use crate::lane::Bits;

/// n and m of a positive normal x = 2^n m, with m from the root of 1/2 to that of 2.
#[inline(always)]
pub fn split<T: Format>(x: T) -> (T::Int, T) {
    let shifted = x.bits().minus(T::ROOT_HALF);
    let mantissa = T::Int::of(1).left(T::MANTISSA).minus(T::Int::of(1));
    (shifted.right(T::MANTISSA), T::of_bits(shifted.and(mantissa).plus(T::ROOT_HALF)))
}

/// ln x.
#[inline(always)]
pub fn ln<L: Level, T: Format>(x: T) -> T {
    ln_corrected::<L, T>(x, T::of(0.0))
}

/// ln(1 + x).
#[inline(always)]
pub fn ln_1p<L: Level, T: Format>(x: T) -> T {
    let u = T::of(1.0) + x;
    // The rounding error of the sum; divided by u, it is the change of the logarithm.
    let lost = (x - (u - T::of(1.0))) / u;
    let is_usual = T::of(0.0).less(u) & u.less(T::INFINITY);
    let result = ln_corrected::<L, T>(u, T::select(is_usual, lost, T::of(0.0)));
    // Also keeps -0.
    T::select(x.magnitude().less(T::TINY), x, result)
}

/// ln x, and a correction that is added before the largest part.
#[inline(always)]
pub(crate) fn ln_corrected<L: Level, T: Format>(x: T, correction: T) -> T {
    let (zero, digits) = (T::of(0.0), T::Int::of(i32::from(T::MANTISSA)));
    let is_subnormal = x.less(T::MIN_POSITIVE);
    let scaled = T::select(is_subnormal, x * power_of_two::<T>(digits), x);
    let (n, m) = split(scaled);
    let n = T::of_exponent(n) - T::select(is_subnormal, T::of_exponent(digits), zero);
    let result = T::ln_parts::<L>(n, m - T::of(1.0), correction);
    // Infinity and NaN are their own logarithms.
    let result = T::select(x.less(T::INFINITY), result, x);
    let result = T::select(x.less(zero), T::NAN, result);
    T::select(x.same(zero), -T::INFINITY, result)
}

/// ln(1 + x) for an x from 0 to 1, without the care for others.
#[inline(always)]
fn ln_1p_of_unit<L: Level, T: Format>(x: T) -> T {
    // ln(1 + x) = 2 atanh(s) = 2 s + s rest, where 2 s = x - s x.
    let s = x / (T::of(2.0) + x);
    let z = s * s;
    let rest = z * T::atanh_series::<L>(z);
    fma::<L, T>(-s, x - rest, x)
}

/// ln(e^a + e^b) = max(a, b) + ln(1 + e^-|a - b|).
#[inline(always)]
pub fn log_add_exp<L: Level, T: Format>(a: T, b: T) -> T {
    let larger = T::select(b.less(a), a, b);
    let sum = larger + ln_1p_of_unit::<L, T>(exp::<L, T>(-(a - b).magnitude()));
    // The difference of two infinities is NaN, and the logarithm of their sum the larger one.
    let [high, low] = T::LN_2_PARTS;
    T::select(a.same(b), larger + (high + low), sum)
}
