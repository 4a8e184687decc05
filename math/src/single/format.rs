//! Constants and polynomials of the elementary functions.

use super::{polynomial, trigonometric};
use crate::elementary::{self, Angles, Format, fma};
use crate::level::Level;

impl Format for f32 {
    elementary::format!(f32);

    const ROOT_HALF: i32 = 0x3f35_04f3;
    const LN_2_PARTS: [f32; 2] = [0.693_115_23, 3.194_618_5e-5];
    const EXP_RANGE: [f32; 2] = [-104.0, 89.0];
    const TANH_END: f32 = 10.0;
    const TANH_SERIES: Option<[f32; 2]> = None;
    const NO_BITS: f32 = -30.0;
    const TINY: f32 = 1e-8;
    const SMALL: f32 = 1e-30;

    #[inline(always)]
    fn exp_series<L: Level>(r: f32) -> f32 {
        exp_series::<L, f32>(r)
    }
    #[inline(always)]
    fn ln_parts<L: Level>(n: f32, f: f32, correction: f32) -> f32 {
        ln_parts::<L, f32>(n, f, correction)
    }
    #[inline(always)]
    fn atanh_series<L: Level>(z: f32) -> f32 {
        atanh_series::<L, f32>(z)
    }
}

/// See [`Format::atanh_series`]; 7.3e-9.
#[inline(always)]
pub fn atanh_series<L: Level, T: Format>(z: T) -> T {
    polynomial::<L, T, 5>(
        z,
        [0.666_666_673_205, 0.399_997_063_319, 0.285_923_579_943, 0.217_065_758_009, 0.232_243_292_24],
    )
}

/// See [`Format::exp_series`]; 6.5e-8, of e^r below 7.9e-9.
#[inline(always)]
pub fn exp_series<L: Level, T: Format>(r: T) -> T {
    polynomial::<L, T, 5>(r, [0.5, 0.166_665_769_897, 0.041_666_554_617_2, 0.008_363_179_052_72, 0.001_392_618_358_77])
}

/// See [`Format::ln_parts`].
#[inline(always)]
pub fn ln_parts<L: Level, T: Format>(n: T, f: T, correction: T) -> T {
    // (ln(1 + f) - f + f^2 / 2) / f^3; 2.9e-8.
    let q = polynomial::<L, T, 9>(
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
    let [high, low] = T::LN_2_PARTS;
    let square = f * f;
    let small = fma::<L, T>(n, low, correction);
    let tail = fma::<L, T>(T::of(-0.5), square, fma::<L, T>(f * square, q, small));
    fma::<L, T>(n, high, f + tail)
}

impl Angles for f32 {
    const EASY_ANGLES: f32 = 6000.0;

    #[inline(always)]
    fn sine<L: Level>(x: f32) -> f32 {
        trigonometric::sin::<L>(x)
    }
    #[inline(always)]
    fn cosine<L: Level>(x: f32) -> f32 {
        trigonometric::cos::<L>(x)
    }
    #[inline(always)]
    fn tangent<L: Level>(x: f32) -> f32 {
        trigonometric::tan::<L>(x)
    }
}
