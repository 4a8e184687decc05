//! Logarithms.

use super::{LN_2_HIGH, LN_2_LOW, fma, polynomial};
use crate::math::level::Level;

/// 2 atanh(s) / s - 2 over s^2, in s^2, which is at most 0.0295: what is left out is below 1e-18.
const SERIES: [f64; 11] = {
    let mut series = [0.0; 11];
    let mut k = 0;
    while k < 11 {
        series[k] = 2.0 / (2 * k + 3) as f64;
        k += 1;
    }
    series
};

/// ln x.
#[inline(always)]
pub fn ln<L: Level>(x: f64) -> f64 {
    plus::<L>(x, 0.0)
}

/// ln(1 + x).
#[inline(always)]
pub fn ln_1p<L: Level>(x: f64) -> f64 {
    let u = 1.0 + x;
    // What the sum lost, of which the logarithm's change is so much over u.
    let lost = if x < 1.0 { x - (u - 1.0) } else { 1.0 - (u - x) } / u;
    let is_odd = !(u > 0.0 && u < f64::INFINITY);
    let result = plus::<L>(u, if is_odd { 0.0 } else { lost });
    // Also keeps -0.
    if x.abs() < 1e-17 { x } else { result }
}

/// ln x, and a correction that is added before the largest part.
#[inline(always)]
fn plus<L: Level>(x: f64, correction: f64) -> f64 {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let is_subnormal = x < f64::MIN_POSITIVE;
    let scaled = if is_subnormal { x * 18_014_398_509_481_984.0 } else { x };
    // x = 2^n (1 + f), with 1 + f from the root of 1/2 to that of 2.
    let shifted = scaled.to_bits().wrapping_sub(ROOT_HALF);
    let n = ((shifted as i64 >> 52) as i32) as f64 - if is_subnormal { 54.0 } else { 0.0 };
    let f = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + ROOT_HALF) - 1.0;
    // ln(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + rest)
    let s = f / (2.0 + f);
    let z = s * s;
    let rest = z * polynomial::<L, 11>(z, &SERIES);
    let half = 0.5 * f * f;
    let low = fma::<L>(s, half + rest, fma::<L>(n, LN_2_LOW, correction));
    let result = fma::<L>(n, LN_2_HIGH, f - (half - low));
    match () {
        () if x == 0.0 => f64::NEG_INFINITY,
        () if x < 0.0 => f64::NAN,
        () if x < f64::INFINITY => result,
        // Infinity and NaN.
        () => x,
    }
}
