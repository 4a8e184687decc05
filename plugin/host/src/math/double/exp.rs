//! Exponentials.

use super::{LN_2_HIGH, LN_2_LOW, fma, inverse_factorial, nearest, polynomial, power_of_two};
use crate::math::level::Level;

/// (e^r - 1 - r) / r^2, whose next term is below 5e-18 of e^r.
const SERIES: [f64; 12] = {
    let mut series = [0.0; 12];
    let mut n = 0;
    while n < 12 {
        series[n] = inverse_factorial(n as u32 + 2);
        n += 1;
    }
    series
};

/// n and e^r - 1, where x = n ln 2 + r and |r| is at most ln 2 / 2.
#[inline(always)]
fn reduced<L: Level>(x: f64) -> (i64, f64) {
    let (n, integer) = nearest(x * std::f64::consts::LOG2_E);
    let r = fma::<L>(n, -LN_2_LOW, fma::<L>(n, -LN_2_HIGH, x));
    (integer, fma::<L>(r * r, polynomial::<L, 12>(r, &SERIES), r))
}

/// `x`, but not beyond where e^x is 0 or infinite; NaN stays.
#[inline(always)]
fn bounded(x: f64) -> f64 {
    let x = if x > 710.0 { 710.0 } else { x };
    if x < -746.0 { -746.0 } else { x }
}

/// e^x.
#[inline(always)]
pub fn exp<L: Level>(x: f64) -> f64 {
    let (n, less_one) = reduced::<L>(bounded(x));
    // In two steps, since 2^n can be beyond the normal numbers.
    let half = n >> 1;
    (1.0 + less_one) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// e^x - 1.
#[inline(always)]
pub fn expm1<L: Level>(x: f64) -> f64 {
    let (n, less_one) = reduced::<L>(bounded(x));
    // 2^n e^r - 1 = 2^n (e^r - 1) + (2^n - 1); twice half of it, since 2^1024 is no number.
    let scale = power_of_two(if n < -60 { -60 } else { n }.wrapping_sub(1));
    let result = 2.0 * fma::<L>(scale, less_one, scale - 0.5);
    // Also keeps -0.
    if x.abs() < 1e-17 { x } else { result }
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn logistic<L: Level>(x: f64) -> f64 {
    let small = exp::<L>(-x.abs());
    (if x < 0.0 { small } else { 1.0 }) / (1.0 + small)
}

/// The hyperbolic tangent: (e^2x - 1) / (e^2x + 1).
#[inline(always)]
pub fn tanh<L: Level>(x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 20.0 { 20.0 } else { a };
    let less_one = expm1::<L>(2.0 * a);
    (less_one / (less_one + 2.0)).copysign(x)
}
