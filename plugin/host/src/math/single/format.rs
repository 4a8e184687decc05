//! Constants and polynomials of the elementary functions.

use crate::math::elementary::{self, fma, nearest, polynomial, sum};
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
    fn quarter_turns<L: Level>(x: f32) -> ([f32; 2], [f32; 2], i32) {
        /// pi / 2 in parts: three of 11 bits, so that multiples are exact, and the rest.
        const PARTS: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_62e-8, 2.563_344e-12];
        let (n, integer) = nearest(x * std::f32::consts::FRAC_2_PI);
        let high = fma::<L, f32>(n, -PARTS[1], fma::<L, f32>(n, -PARTS[0], x));
        let r = fma::<L, f32>(n, -PARTS[2], high);
        // What rounding lost of the third part.
        let lost = fma::<L, f32>(n, -PARTS[2], high - r);
        let [r, tail] = sum(r, fma::<L, f32>(n, -PARTS[3], lost));
        let u = r * r;
        // (sin r - r) / r^3 in u = r^2; 2.8e-11.
        let s = polynomial::<L, f32, 4>(u, &[-0.166_666_666_64, 0.008_333_331_866, -0.000_198_400_82, 2.724_931_4e-6]);
        let sin = sum(r, fma::<L, f32>(r * u, s, tail));
        // (cos r - 1 + u / 2) / u^2; 2.0e-9.
        let c = polynomial::<L, f32, 3>(u, &[0.041_666_664_65, -0.001_388_830_07, 2.454_743_75e-5]);
        let half = 0.5 * u;
        let one = 1.0 - half;
        let small = fma::<L, f32>(u * u, c, -r * tail);
        let cos = sum(one, (1.0 - one) - half + small);
        (sin, cos, integer)
    }
} }
