//! Hyperbolic functions and their inverses of numbers of single precision, in double precision, where the roundings of
//! their steps do not show.

use std::f64::consts::{LN_2, LOG2_E};

use crate::double::{Double, polynomial};
use crate::elementary::{fma, nearest, power_of_two, split};
use crate::lane::Bits;
use crate::level::Level;

/// Beyond it the exponential is infinite in single precision.
const END: f64 = 200.0;
/// Below it the inverse functions are their argument.
const TINY: f64 = 1.0 / 16384.0;

/// e^a / 2, for an `a` that is not negative.
#[inline(always)]
fn half_exp<L: Level, T: Double>(a: T) -> T {
    let end = T::of_double(END);
    let a = T::select(end.less(a), end, a);
    let (n, integer) = nearest(a * T::of_double(LOG2_E));
    let r = fma::<L, T>(n, T::of_double(-LN_2), a);
    // (e^r - 1 - r) / r^2, up to ln 2 / 2: a Chebyshev fit, within 1.7e-10 of e^r.
    let series = polynomial::<L, T, 6>(
        r,
        &[
            0.500_000_001_345_772_7,
            0.166_666_666_816_142_56,
            0.041_666_465_006_040_05,
            0.008_333_310_934_448_869,
            0.001_393_364_103_198_670_1,
            0.000_198_909_808_697_503_27,
        ],
    );
    let power = fma::<L, T>(r * r, series, r) + T::of(1.0);
    power * power_of_two::<T>(integer.minus(T::Int::of(1)))
}

/// sinh x = (e^x - e^-x) / 2.
#[inline(always)]
pub fn sinh_in_double<L: Level, T: Double>(x: T) -> T {
    let a = x.magnitude();
    let half = half_exp::<L, T>(a);
    let far = half - T::of(0.25) / half;
    let square = a * a;
    // (sinh a - a) / a^3 in a^2, up to 1: a Chebyshev fit, within 2e-10 of sinh a.
    let series = polynomial::<L, T, 4>(
        square,
        &[0.166_666_666_468_421_35, 0.008_333_339_675_917_06, 0.000_198_381_019_686_838_88, 2.806_280_258_227_694_6e-6],
    );
    let near = fma::<L, T>(a * square, series, a);
    T::select(a.less(T::of(1.0)), near, far).signed_as(x)
}

/// cosh x = (e^x + e^-x) / 2.
#[inline(always)]
pub fn cosh_in_double<L: Level, T: Double>(x: T) -> T {
    let half = half_exp::<L, T>(x.magnitude());
    half + T::of(0.25) / half
}

/// ln x, with more digits than single precision has; NaN unless `x` is positive.
#[inline(always)]
fn ln<L: Level, T: Double>(x: T) -> T {
    let (n, m) = split(x);
    let s = (m - T::of(1.0)) / (m + T::of(1.0));
    let z = s * s;
    // (2 atanh(s) / s - 2) / s^2 in s^2: a Chebyshev fit, within 4e-11 of the logarithm.
    let series = polynomial::<L, T, 4>(
        z,
        &[0.666_666_665_544_970_9, 0.400_001_218_398_061_24, 0.285_508_208_159_606_65, 0.233_304_672_163_038_35],
    );
    let result = fma::<L, T>(T::of_exponent(n), T::of_double(LN_2), s * fma::<L, T>(z, series, T::of(2.0)));
    T::select(x.less(T::INFINITY), T::select(T::of(0.0).less(x), result, T::NAN), x)
}

/// arsinh x = ln(x + root(x^2 + 1)).
#[inline(always)]
pub fn asinh_in_double<L: Level, T: Double>(x: T) -> T {
    let a = x.magnitude();
    let result = ln::<L, T>(a + fma::<L, T>(a, a, T::of(1.0)).root());
    T::select(a.less(T::of_double(TINY)), a, result).signed_as(x)
}

/// arcosh x = ln(x + root((x - 1) (x + 1))), NaN below 1.
#[inline(always)]
pub fn acosh_in_double<L: Level, T: Double>(x: T) -> T {
    ln::<L, T>(x + ((x - T::of(1.0)) * (x + T::of(1.0))).root())
}

/// artanh x = ln((1 + x) / (1 - x)) / 2, NaN beyond 1.
#[inline(always)]
pub fn atanh_in_double<L: Level, T: Double>(x: T) -> T {
    let a = x.magnitude();
    let result = T::of(0.5) * ln::<L, T>((T::of(1.0) + a) / (T::of(1.0) - a));
    T::select(a.less(T::of_double(TINY)), a, result).signed_as(x)
}
