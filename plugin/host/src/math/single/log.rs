//! Logarithms.

use super::exp::{LN_2_HIGH, LN_2_LOW};
use super::{fma, polynomial};
use crate::math::level::Level;

/// ln x.
#[inline(always)]
pub fn ln<L: Level>(x: f32) -> f32 {
    plus::<L>(x, 0.0)
}

/// ln(1 + x).
#[inline(always)]
pub fn ln_1p<L: Level>(x: f32) -> f32 {
    let u = 1.0 + x;
    // What the sum lost, of which the logarithm's change is so much over u.
    let lost = (x - (u - 1.0)) / u;
    let is_odd = !(u > 0.0 && u < f32::INFINITY);
    let result = plus::<L>(u, if is_odd { 0.0 } else { lost });
    // Also keeps -0.
    if x.abs() < 1e-8 { x } else { result }
}

/// ln x, and a correction that is added before the largest part.
#[inline(always)]
fn plus<L: Level>(x: f32, correction: f32) -> f32 {
    const ROOT_HALF: u32 = 0x3f35_04f3;
    let is_subnormal = x < f32::MIN_POSITIVE;
    let scaled = if is_subnormal { x * 8_388_608.0 } else { x };
    // x = 2^n (1 + f), with 1 + f from the root of 1/2 to that of 2.
    let shifted = scaled.to_bits().wrapping_sub(ROOT_HALF);
    let n = ((shifted as i32) >> 23) as f32 - if is_subnormal { 23.0 } else { 0.0 };
    let f = f32::from_bits((shifted & 0x007f_ffff) + ROOT_HALF) - 1.0;
    // (ln(1 + f) - f + f^2 / 2) / f^3; 2.9e-8.
    let q = polynomial::<L, 9>(
        f,
        [
            0.333_333_311_61,
            -0.249_999_969_32,
            0.200_007_207_44,
            -0.166_678_097_71,
            0.142_488_769_78,
            -0.124_253_598_22,
            0.116_870_248_83,
            -0.114_830_813_3,
            0.069_713_463_194,
        ],
    );
    let square = f * f;
    let small = fma::<L>(n, LN_2_LOW, correction);
    let tail = fma::<L>(-0.5, square, fma::<L>(f * square, q, small));
    let result = fma::<L>(n, LN_2_HIGH, f + tail);
    match () {
        () if x == 0.0 => f32::NEG_INFINITY,
        () if x < 0.0 => f32::NAN,
        () if x < f32::INFINITY => result,
        // Infinity and NaN.
        () => x,
    }
}
