//! The error function, its complement and its inverse.

use super::polynomial;
use crate::math::elementary::{Format, exp, fma, ln_1p, sum};
use crate::math::lane::Bits;
use crate::math::level::Level;

/// erf x / x - 1 in u = x^2, up to 1; 3.7e-11. The 1 apart keeps the digits that `f32` has no room for.
#[inline(always)]
fn near_zero<L: Level, T: Format>(u: T) -> T {
    polynomial::<L, T, 8>(
        u,
        [
            0.128_379_167_06,
            -0.376_126_384_68,
            0.112_837_824_95,
            -0.026_865_430_728,
            0.005_221_031_807_9,
            -0.000_848_408_040_55,
            0.000_112_659_590_26,
            -9.667_044_571_5e-6,
        ],
    )
}

/// erf x.
#[inline(always)]
pub(crate) fn erf<L: Level, T: Format>(x: T) -> T {
    let a = x.magnitude();
    let small = fma::<L, T>(x, near_zero::<L, T>(x * x), x);
    // -ln erfc x, from 0.95 to 4; 1.8e-8.
    let t = T::select(T::of(4.0).less(a), T::of(4.0), a);
    let exponent = polynomial::<L, T, 9>(
        t,
        [
            -0.000_321_866_257_55,
            1.130_241_877_5,
            0.631_809_550_13,
            0.110_097_242_51,
            -0.026_431_643_283,
            0.004_763_509_663_3,
            -0.000_597_677_274_92,
            4.616_478_516_1e-5,
            -1.642_678_968_4e-6,
        ],
    );
    let large = (T::of(1.0) - exp::<L, T>(-exponent)).with_sign(x);
    T::select(a.less(T::of(1.0)), small, large)
}

/// 1 - erf x.
#[inline(always)]
pub(crate) fn erfc<L: Level, T: Format>(x: T) -> T {
    let a = x.magnitude();
    let end = T::of(10.6);
    let a = T::select(end.less(a), end, a);
    // x^2 in two parts, the first of which is exact: e^-x^2 would lose as many bits as x^2 has before the point.
    let high = T::of_bits(a.bits().and(T::Int::of(-0x1000)));
    let (square, rest) = (high * high, (a - high) * (a + high));
    let gauss = exp::<L, T>(-square) * exp::<L, T>(-rest);
    // e^(x^2) erfc(x) (1 + 2x) in s = (x - 3) / (x + 3), for x from 0.45 to 10.6; 8.3e-10.
    let s = (a - T::of(3.0)) / (a + T::of(3.0));
    let q = polynomial::<L, T, 11>(
        s,
        [
            1.253_008_059,
            -0.135_621_105_46,
            -0.047_562_407_681,
            0.129_645_085_66,
            -0.119_270_994_21,
            0.068_310_078_967,
            -0.023_792_699_589,
            0.002_508_655_576_3,
            0.001_964_442_448_2,
            -0.000_694_978_846_25,
            -0.000_194_951_311_78,
        ],
    );
    let tail = gauss * q / fma::<L, T>(T::of(2.0), a, T::of(1.0));
    let far = T::select(x.less(T::of(0.0)), T::of(2.0) - tail, tail);
    let [less, lost] = sum(T::of(1.0), -x);
    let near = less + fma::<L, T>(-x, near_zero::<L, T>(x * x), lost);
    T::select(a.less(T::of(0.45)), near, far)
}

/// The inverse of erf, with the polynomials of Giles (*Approximating the erfinv function*, GPU Computing Gems, 2011).
#[inline(always)]
pub(crate) fn erf_inv<L: Level, T: Format>(x: T) -> T {
    let w = -ln_1p::<L, T>(-x * x);
    let centre = polynomial::<L, T, 9>(
        w - T::of(2.5),
        [
            1.501_409_41,
            0.246_640_727,
            -0.004_177_681_64,
            -0.001_253_725_03,
            0.000_218_580_87,
            -4.391_506_54e-6,
            -3.523_387_7e-6,
            3.432_739_39e-7,
            2.810_226_36e-8,
        ],
    );
    let tail = polynomial::<L, T, 9>(
        w.root() - T::of(3.0),
        [
            2.832_976_82,
            1.001_674_06,
            0.009_438_870_47,
            -0.007_622_461_3,
            0.005_739_507_73,
            -0.003_673_428_44,
            0.001_349_343_22,
            0.000_100_950_558,
            -0.000_200_214_257,
        ],
    );
    let result = x * T::select(w.less(T::of(5.0)), centre, tail);
    T::select(x.magnitude().same(T::of(1.0)), T::INFINITY.with_sign(x), result)
}
