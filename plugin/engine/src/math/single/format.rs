//! Constants and polynomials of the elementary functions.

use super::trigonometric;
use crate::math::elementary::{self, fma, polynomial};
use crate::math::level::Level;

elementary::format! { f32 i32 {
    const ROOT_HALF: i32 = 0x3f35_04f3;
    const LN_2_PARTS: [f32; 2] = [0.693_115_23, 3.194_618_5e-5];
    const EXP_RANGE: [f32; 2] = [-104.0, 89.0];
    const TANH_END: f32 = 10.0;
    const NO_BITS: i32 = -30;
    const TINY: f32 = 1e-8;
    const SMALL: f32 = 1e-30;
    const EASY_ANGLES: f32 = 6000.0;

    #[inline(always)]
    fn exp_series<L: Level>(r: f32) -> f32 {
        // 1.5e-9.
        polynomial::<L, f32, 6>(
            r,
            &[
                0.500_000_001_43,
                0.166_666_666_83,
                0.041_666_456_81,
                0.008_333_310_024,
                0.001_393_454_193,
                0.000_198_919_813,
            ],
        )
    }

    #[inline(always)]
    fn ln_parts<L: Level>(n: f32, f: f32, correction: f32) -> f32 {
        // (ln(1 + f) - f + f^2 / 2) / f^3; 2.9e-8.
        let q = polynomial::<L, f32, 9>(
            f,
            &[
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
        let [high, low] = Self::LN_2_PARTS;
        let square = f * f;
        let small = fma::<L, f32>(n, low, correction);
        let tail = fma::<L, f32>(-0.5, square, fma::<L, f32>(f * square, q, small));
        fma::<L, f32>(n, high, f + tail)
    }

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
} }
