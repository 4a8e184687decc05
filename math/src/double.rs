//! Constants and polynomials of the elementary functions of `f64`, which are terms of their series.

mod error;
mod hyperbolic;
mod trigonometric;

pub use error::{erf, erfc, erfc_of_gauss, gauss};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh};

use super::elementary::{self, Angles, Format, fma, horner};
use super::level::Level;

/// 1 / n!, for an n of at most 20; of at most 18, the factorial is exact.
const fn inverse_factorial(n: u32) -> f64 {
    let (mut product, mut factor) = (1u64, 1);
    while factor <= n {
        product *= factor as u64;
        factor += 1;
    }
    1.0 / product as f64
}

/// Every `step`th term of a series of inverse factorials, starting with that of `first`.
const fn inverse_factorials<const N: usize>(first: u32, step: u32) -> [f64; N] {
    let mut series = [0.0; N];
    let mut k = 0;
    while k < N {
        series[k] = inverse_factorial(first + step * k as u32);
        k += 1;
    }
    series
}

/// The series with the signs of odd places changed.
const fn alternating<const N: usize>(mut series: [f64; N]) -> [f64; N] {
    let mut k = 1;
    while k < N {
        series[k] = -series[k];
        k += 2;
    }
    series
}

/// (e^r - 1 - r) / r^2, whose next term is below 5e-18 of e^r.
const EXP: [f64; 12] = inverse_factorials(2, 1);

/// (r - sin r) / r^3 in r^2, whose next term is below 1e-19.
const SINE: [f64; 8] = alternating(inverse_factorials(3, 2));

/// (cos r - 1 + r^2 / 2) / r^4 in r^2, whose next term is below 3e-18.
const COSINE: [f64; 7] = alternating(inverse_factorials(4, 2));

/// 2 atanh(s) / s - 2 over s^2, in s^2, which is at most 0.0295; the truncation error is below 1e-18.
const LN: [f64; 11] = {
    let mut series = [0.0; 11];
    let mut k = 0;
    while k < 11 {
        series[k] = 2.0 / (2 * k + 3) as f64;
        k += 1;
    }
    series
};

impl Format for f64 {
    elementary::format!(f64);

    const ROOT_HALF: i64 = 0x3fe6_a09e_667f_3bcd;
    const LN_2_PARTS: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fee0_0000), f64::from_bits(0x3dea_39ef_3579_3c76)];
    const EXP_RANGE: [f64; 2] = [-746.0, 710.0];
    const TANH_END: f64 = 20.0;
    const TANH_SERIES: Option<[f64; 2]> = Some([-1.0 / 3.0, 2.0 / 15.0]);
    const NO_BITS: f64 = -60.0;
    const TINY: f64 = 1e-17;
    const SMALL: f64 = 1e-290;

    #[inline(always)]
    fn exp_series<L: Level>(r: f64) -> f64 {
        exp_series::<L, f64>(r)
    }
    #[inline(always)]
    fn ln_parts<L: Level>(n: f64, f: f64, correction: f64) -> f64 {
        ln_parts::<L, f64>(n, f, correction)
    }
    #[inline(always)]
    fn atanh_series<L: Level>(z: f64) -> f64 {
        atanh_series::<L, f64>(z)
    }
}

/// Floats with all digits of `f64`.
pub trait Double: Format {
    /// A number.
    fn of_double(x: f64) -> Self;
}

impl Double for f64 {
    #[inline(always)]
    fn of_double(x: f64) -> f64 {
        x
    }
}

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
pub(crate) fn polynomial<L: Level, T: Double, const N: usize>(x: T, coefficients: &[f64; N]) -> T {
    horner::<L, T, N>(
        x,
        #[inline(always)]
        |index| T::of_double(coefficients[index]),
    )
}

/// See [`Format::exp_series`].
#[inline(always)]
pub fn exp_series<L: Level, T: Double>(r: T) -> T {
    polynomial::<L, T, 12>(r, &EXP)
}

/// See [`Format::ln_parts`].
#[inline(always)]
pub fn ln_parts<L: Level, T: Double>(n: T, f: T, correction: T) -> T {
    // ln(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + rest)
    let s = f / (T::of(2.0) + f);
    let z = s * s;
    let rest = z * polynomial::<L, T, 11>(z, &LN);
    let half = T::of(0.5) * f * f;
    let [ln_2, ln_2_low] = T::LN_2_PARTS;
    let low = fma::<L, T>(s, half + rest, fma::<L, T>(n, ln_2_low, correction));
    fma::<L, T>(n, ln_2, f - (half - low))
}

/// See [`Format::atanh_series`]: a Chebyshev fit, within 9.1e-17.
#[inline(always)]
pub fn atanh_series<L: Level, T: Double>(z: T) -> T {
    polynomial::<L, T, 10>(
        z,
        &[
            0.666_666_666_666_666_6,
            0.400_000_000_000_145_8,
            0.285_714_285_671_087_6,
            0.222_222_227_174_278_63,
            0.181_817_894_361_328_6,
            0.153_855_700_649_586_23,
            0.133_141_442_096_549_36,
            0.120_010_728_095_907_13,
            0.088_007_384_861_446_74,
            0.161_640_456_115_439_3,
        ],
    )
}

impl Angles for f64 {
    const EASY_ANGLES: f64 = 1_000_000.0;

    #[inline(always)]
    fn sine<L: Level>(x: f64) -> f64 {
        trigonometric::sin::<L>(x)
    }
    #[inline(always)]
    fn cosine<L: Level>(x: f64) -> f64 {
        trigonometric::cos::<L>(x)
    }
    #[inline(always)]
    fn tangent<L: Level>(x: f64) -> f64 {
        trigonometric::tan::<L>(x)
    }
}
