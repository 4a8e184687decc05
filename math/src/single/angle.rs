//! Arc tangent; arc sine and arc cosine in double precision, where the roundings of their steps do not show.

use std::f64::consts::{FRAC_PI_2, PI};

use super::polynomial;
use crate::double::{self, Double};
use crate::elementary::{fma, sum};
use crate::level::Level;

/// Returns whether |x| is above 1/2, and an arc: up to 1/2 the arc sine of |x|, above it half of the arc cosine of |x|,
/// which is the arc sine of the root of (1 - |x|) / 2.
#[inline(always)]
fn arc<L: Level, T: Double>(x: T) -> (T::Mask, T) {
    let a = x.magnitude();
    let is_far = T::of(0.5).less(a);
    let square = T::select(is_far, T::of(0.5) * (T::of(1.0) - a), a * a);
    let sine = T::select(is_far, square.root(), a);
    // (asin t - t) / t^3 in t^2, up to 1/2; a Chebyshev fit, within 6e-11 of the arc sine.
    let series = double::polynomial::<L, T, 7>(
        square,
        &[
            0.166_666_666_866_086_43,
            0.074_999_924_044_018_38,
            0.044_647_663_888_134_85,
            0.030_269_138_728_589_183,
            0.023_611_817_008_891_752,
            0.010_574_415_516_912_909,
            0.030_974_540_371_355_073,
        ],
    );
    (is_far, fma::<L, T>(sine * square, series, sine))
}

/// asin x of a number of single precision, before it is rounded to that.
#[inline(always)]
pub fn asin_in_double<L: Level, T: Double>(x: T) -> T {
    let (is_far, arc) = arc::<L, T>(x);
    T::select(is_far, T::of_double(FRAC_PI_2) - (arc + arc), arc).signed_as(x)
}

/// acos x of a number of single precision, before it is rounded to that.
#[inline(always)]
pub fn acos_in_double<L: Level, T: Double>(x: T) -> T {
    let (is_far, arc) = arc::<L, T>(x);
    let near = T::of_double(FRAC_PI_2) - arc.signed_as(x);
    let twice = arc + arc;
    T::select(is_far, T::select(x.less(T::of(0.0)), T::of_double(PI) - twice, twice), near)
}

/// `whole + whole_low - (part + part_low)`, and its rounding error.
#[inline(always)]
fn of_rest(whole: f32, whole_low: f32, part: f32, part_low: f32) -> [f32; 2] {
    let [high, low] = sum(whole, -part);
    sum(high, low + (whole_low - part_low))
}

/// The angle of the point (x, y).
#[inline(always)]
pub fn atan2<L: Level>(y: f32, x: f32) -> f32 {
    use std::f32::consts::{FRAC_PI_2, PI};
    let (a, b) = (y.abs(), x.abs());
    let (low, high) = if a > b { (b, a) } else { (a, b) };
    let ratio = low / high;
    // 0 / 0 and infinity / infinity also have an angle.
    let ratio = if high == 0.0 { 0.0 } else { ratio };
    let ratio = if low == f32::INFINITY { 1.0 } else { ratio };
    let u = ratio * ratio;
    // (atan t - t) / t^3 in u = t^2; 2.5e-9.
    let q = polynomial::<L, f32, 10>(
        u,
        [
            -0.333_333_330_81,
            0.199_999_493_21,
            -0.142_840_037_95,
            0.110_882_616_29,
            -0.089_318_267_774,
            0.070_319_142_5,
            -0.048_960_514_027,
            0.026_305_001_11,
            -0.009_144_629_760_6,
            0.001_488_691_939_3,
        ],
    );
    // The rounding error of the ratio, as an angle.
    let lost = if L::FUSED { fma::<L, f32>(-ratio, high, low) / fma::<L, f32>(high, u, high) } else { 0.0 };
    let lost = if lost.is_finite() { lost } else { 0.0 };
    let (angle, rest) = (ratio, fma::<L, f32>(ratio * u, q, lost));
    // pi / 2 and pi are also rounded.
    let [angle, rest] = sum(angle, rest);
    let [angle, rest] = if a > b { of_rest(FRAC_PI_2, -4.371_139e-8, angle, rest) } else { [angle, rest] };
    let angle = if x.is_sign_negative() { of_rest(PI, -8.742_278e-8, angle, rest)[0] } else { angle + rest };
    let result = angle.copysign(y);
    if x.is_nan() || y.is_nan() { f32::NAN } else { result }
}
