//! Exponentials.

use super::{fma, nearest, polynomial, power_of_two};
use crate::math::level::Level;

/// ln 2 in two parts, of which the first times an integer of up to 11 bits is exact.
pub(super) const LN_2_HIGH: f32 = 0.693_115_23;
pub(super) const LN_2_LOW: f32 = 3.194_618_5e-5;

/// n and e^r - 1, where x = n ln 2 + r and |r| is at most ln 2 / 2.
#[inline(always)]
fn reduced<L: Level>(x: f32) -> (i32, f32) {
    let (n, integer) = nearest(x * std::f32::consts::LOG2_E);
    let r = fma::<L>(n, -LN_2_LOW, fma::<L>(n, -LN_2_HIGH, x));
    // (e^r - 1 - r) / r^2; 1.5e-9.
    let q = polynomial::<L, 6>(
        r,
        [0.500_000_001_43, 0.166_666_666_83, 0.041_666_456_81, 0.008_333_310_024, 0.001_393_454_193, 0.000_198_919_813],
    );
    (integer, fma::<L>(r * r, q, r))
}

/// `x`, but not beyond where e^x is 0 or infinite; NaN stays.
#[inline(always)]
fn bounded(x: f32) -> f32 {
    let x = if x > 89.0 { 89.0 } else { x };
    if x < -104.0 { -104.0 } else { x }
}

/// e^x.
#[inline(always)]
pub fn exp<L: Level>(x: f32) -> f32 {
    let (n, less_one) = reduced::<L>(bounded(x));
    // In two steps, since 2^n can be beyond the normal numbers.
    let half = n >> 1;
    (1.0 + less_one) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// e^x - 1.
#[inline(always)]
pub fn expm1<L: Level>(x: f32) -> f32 {
    let (n, less_one) = reduced::<L>(bounded(x));
    // 2^n e^r - 1 = 2^n (e^r - 1) + (2^n - 1); twice half of it, since 2^128 is no number.
    let scale = power_of_two(if n < -30 { -30 } else { n }.wrapping_sub(1));
    let result = 2.0 * fma::<L>(scale, less_one, scale - 0.5);
    // Also keeps -0.
    if x.abs() < 1e-8 { x } else { result }
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn logistic<L: Level>(x: f32) -> f32 {
    let small = exp::<L>(-x.abs());
    (if x < 0.0 { small } else { 1.0 }) / (1.0 + small)
}

/// The hyperbolic tangent: (e^2x - 1) / (e^2x + 1).
#[inline(always)]
pub fn tanh<L: Level>(x: f32) -> f32 {
    let a = x.abs();
    let a = if a > 10.0 { 10.0 } else { a };
    let less_one = expm1::<L>(2.0 * a);
    (less_one / (less_one + 2.0)).copysign(x)
}
