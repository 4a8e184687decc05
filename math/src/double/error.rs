//! The error function of `f64` and its complement.

use super::{Double, polynomial};
use crate::elementary::{exp, fma, sum};
use crate::lane::Bits;
use crate::level::Level;
use crate::single::GAUSS_SCALE;

/// Beyond it erfc is 0.
const END: f64 = 27.3;

/// erf x / x - 1 in u = x^2, up to 1: a Chebyshev fit, within 1.45e-19.
const NEAR_ZERO: [f64; 13] = [
    0.128_379_167_095_512_6,
    -0.376_126_389_031_837_5,
    0.112_837_916_709_548_79,
    -0.026_866_170_645_076_792,
    0.005_223_977_624_818_014_5,
    -0.000_854_832_698_083_379,
    0.000_120_553_311_116_427_1,
    -1.492_559_526_683_118_2e-5,
    1.646_100_048_412_136_8e-6,
    -1.635_031_270_105_469_5e-7,
    1.465_977_527_404_743_6e-8,
    -1.137_284_885_679_167_4e-9,
    5.957_176_147_748_911e-11,
];

/// e^(x^2) erfc(x) (1 + 2x) in s = (x - 4) / (x + 4), for x from 0.45 to 27.5: a Chebyshev fit, within 3.6e-18.
const TAIL: [f64; 22] = [
    1.232_995_118_625_552_6,
    -0.139_621_116_840_562_55,
    0.015_379_652_102_619_214,
    0.068_097_054_254_697_45,
    -0.101_039_066_036_265_63,
    0.093_732_834_998_185_65,
    -0.066_330_365_813_316_36,
    0.037_167_515_539_990_41,
    -0.016_197_734_041_857_1,
    0.005_031_969_958_067_158_4,
    -0.000_757_773_423_330_381_8,
    -0.000_199_256_610_534_022_16,
    0.000_150_622_386_700_227_88,
    -2.439_936_279_047_166e-5,
    -1.122_444_630_139_029_6e-5,
    5.709_525_396_049_957_5e-6,
    2.991_037_204_991_655_3e-7,
    -8.238_216_154_969_435e-7,
    6.742_273_871_539_876e-8,
    1.066_916_510_132_098_1e-7,
    -1.237_203_825_997_792_9e-8,
    -1.082_452_799_741_542_6e-8,
];

/// erf x / x - 1, near 0.
#[inline(always)]
fn near_zero<L: Level, T: Double>(x: T) -> T {
    polynomial::<L, T, 13>(x * x, &NEAR_ZERO)
}

/// |x|, no larger than where erfc and e^-x^2 are 0.
#[inline(always)]
fn bounded<T: Double>(x: T) -> T {
    let (a, end) = (x.magnitude(), T::of_double(END));
    T::select(end.less(a), end, a)
}

/// 2^64 e^-x^2.
#[inline(always)]
pub fn gauss<L: Level, T: Double>(x: T) -> T {
    let a = bounded(x);
    // a^2 in two parts, the first exact: an error of a^2 is a relative error of e^-a^2.
    let high = T::of_bits(a.bits().and(T::Int::of(-0x800_0000)));
    let (square, rest) = (high * high, (a - high) * (a + high));
    let power = exp::<L, T>(-square) * T::of(GAUSS_SCALE);
    // e^-rest - 1, where rest is at most 5e-5.
    let less_one = rest * polynomial::<L, T, 3>(rest, &[-1.0, 0.5, -1.0 / 6.0]);
    fma::<L, T>(power, less_one, power)
}

/// erfc |x|, where that is at least 0.45, of x and its [`gauss`].
#[inline(always)]
fn tail<L: Level, T: Double>(x: T, gauss: T) -> T {
    let a = bounded(x);
    let s = (a - T::of(4.0)) / (a + T::of(4.0));
    let divisor = fma::<L, T>(T::of(2.0 * GAUSS_SCALE), a, T::of(GAUSS_SCALE));
    polynomial::<L, T, 22>(s, &TAIL) / divisor * gauss
}

/// erf x.
#[inline(always)]
pub fn erf<L: Level, T: Double>(x: T) -> T {
    let near = fma::<L, T>(x, near_zero::<L, T>(x), x);
    let far = (T::of(1.0) - tail::<L, T>(x, gauss::<L, T>(x))).with_sign(x);
    T::select(x.magnitude().less(T::of(1.0)), near, far)
}

/// 1 - erf x.
#[inline(always)]
pub fn erfc<L: Level, T: Double>(x: T) -> T {
    erfc_of_gauss::<L, T>(x, gauss::<L, T>(x))
}

/// 1 - erf x, of x and its [`gauss`].
#[inline(always)]
pub fn erfc_of_gauss<L: Level, T: Double>(x: T, gauss: T) -> T {
    let tail = tail::<L, T>(x, gauss);
    let far = T::select(x.less(T::of(0.0)), T::of(2.0) - tail, tail);
    let [less, lost] = sum(T::of(1.0), -x);
    let near = less + fma::<L, T>(-x, near_zero::<L, T>(x), lost);
    T::select(x.magnitude().less(T::of(0.5)), near, far)
}
