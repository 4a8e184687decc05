//! Powers.

use crate::double::{Double, polynomial};
use crate::elementary::{fma, nearest, power_of_two, split};
use crate::level::Level;

/// Whether [`power`] can be used: no operand is negative, infinite, undefined or zero.
#[inline(always)]
pub fn is_power_easy(x: f32, y: f32) -> bool {
    x > 0.0 && x < f32::INFINITY && y.abs() < 1e30
}

/// x^y of easy operands: 2^(y log2 x), in double precision.
#[inline(always)]
pub fn power<L: Level>(x: f32, y: f32) -> f32 {
    power_in_double::<L, f64>(x.into(), y.into()) as f32
}

/// The same before the result is rounded to single precision, whose numbers the operands are.
#[inline(always)]
pub fn power_in_double<L: Level, T: Double>(x: T, y: T) -> T {
    let (n, m) = split(x);
    // log2 m = 2 atanh(s) / ln 2; over s, in s^2: 5.1e-16.
    let s = (m - T::of(1.0)) / (m + T::of(1.0));
    let log = polynomial::<L, T, 7>(
        s * s,
        &[
            2.885_390_081_777_927_31,
            0.961_796_693_924_324_535,
            0.577_078_017_250_872_897,
            0.412_198_401_306_843_377,
            0.320_616_442_124_484_581,
            0.261_442_455_571_365_507,
            0.242_938_246_063_263_213,
        ],
    );
    let exponent = y * fma::<L, T>(s, log, T::of_exponent(n));
    // Beyond these the result is 0 or infinite.
    let [low, high] = [-200.0, 200.0].map(T::of);
    let exponent = T::select(high.less(exponent), high, exponent);
    let exponent = T::select(exponent.less(low), low, exponent);
    let (n, integer) = nearest(exponent);
    let r = exponent - n;
    // 2^r; 8.1e-13.
    let fraction = polynomial::<L, T, 9>(
        r,
        &[
            1.0,
            0.693_147_180_545_933_455,
            0.240_226_506_958_129_882,
            0.055_504_109_412_059_329_9,
            0.009_618_129_159_402_558_19,
            0.001_333_345_056_800_064_57,
            0.000_154_034_558_524_538_394,
            1.531_007_940_224_929_74e-5,
            1.325_522_487_866_881_7e-6,
        ],
    );
    fraction * power_of_two::<T>(integer)
}
