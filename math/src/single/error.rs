//! The error function, its complement and its inverse.

use super::polynomial;
use crate::elementary::{Format, fma, ln_1p, nearest_to_product};
use crate::lane::Bits;
use crate::level::Level;

/// erf x.
#[inline(always)]
pub fn erf<L: Level, T: Format>(x: T) -> T {
    // erf x / x - 1 in x^2, for x up to 1.1; 4.3e-9. The 1 apart keeps the digits that `f32` has no room for.
    let near = polynomial::<L, T, 7>(
        x * x,
        [
            0.128_379_162_2,
            -0.376_126_005_2,
            0.112_832_917_6,
            -0.026_841_442_3,
            0.005_164_863_768,
            -0.000_780_579_620_5,
            7.188_007_787e-5,
        ],
    );
    let small = fma::<L, T>(x, near, x);
    // From 4 on, erf x is 1.
    let a = x.magnitude();
    let end = T::of(4.0);
    let a = T::select(end.less(a), end, a);
    // The eighth root of 1 - erf x, whose power is within 7.9e-9, for x from 1.1: it falls by less than a power of ten,
    // where the function itself takes twice as many coefficients. These are the best of some that differ in last bits.
    let root = polynomial::<L, T, 7>(
        a,
        [
            1.001_086_354,
            -0.145_995_959_6,
            -0.060_005_437_58,
            -0.012_501_672_84,
            0.013_419_180_18,
            -0.002_582_317_451,
            0.000_160_319_541_5,
        ],
    );
    let square = root * root;
    let fourth = square * square;
    let large = (T::of(1.0) - fourth * fourth).signed_as(x);
    T::select(a.less(T::of(1.1)), small, large)
}

/// 2^64: beside it, what is beside a normal number remains one.
const LARGE: f32 = 18_446_744_073_709_551_616.0;

/// 1 - erf x.
#[inline(always)]
pub fn erfc<L: Level, T: Format>(x: T) -> T {
    let a = x.magnitude();
    let end = T::of(10.6);
    let a = T::select(end.less(a), end, a);
    let (n, power) = gauss::<L, T>(a);
    // LARGE e^(x^2) erfc(x) (x + 2) in s = (x - 2) / (x + 2), for x from 0.45 to 10.2; 3.5e-9. With one reciprocal,
    // since a quotient takes as long as ten other operations.
    let reciprocal = T::of(1.0) / (a + T::of(2.0));
    let s = fma::<L, T>(T::of(-4.0), reciprocal, T::of(1.0));
    let q = polynomial::<L, T, 10>(
        s,
        [
            1.021_582_708_48,
            -0.687_160_668_535,
            0.279_471_713_173,
            -0.036_442_864_406,
            -0.021_503_465_991_5,
            0.006_485_964_968_83,
            0.003_042_203_326,
            -0.000_865_711_732_122,
            -0.000_526_929_355_448,
            8.367_473_934_07e-5,
        ]
        .map(|coefficient: f32| coefficient * LARGE),
    );
    // n is between -163 and 0, so that the exponent has room for it, and only the last product may be subnormal.
    let large = power * (q * reciprocal);
    let tail = T::of_bits(large.bits().plus(n.left(T::MANTISSA))) * T::of(1.0 / LARGE);
    let far = T::select(x.less(T::of(0.0)), T::of(2.0) - tail, tail);
    // -erf x / x in x^2, up to 0.46; 6.5e-10.
    let slope = polynomial::<L, T, 5>(
        x * x,
        [-1.128_379_166_4, 0.376_126_234_28, -0.112_832_037_11, 0.026_787_724_659, -0.004_793_255_359_6],
    );
    let near = fma::<L, T>(x, slope, T::of(1.0));
    // NaN is near, since its bits are no number's to add to.
    T::select(T::of(0.45).less(a), far, near)
}

/// e^-x^2 = 2^n e^-r, as n in the lowest bits of an integer, and e^-r, where r is at most ln 2 / 2.
#[inline(always)]
fn gauss<L: Level, T: Format>(x: T) -> (T::Int, T) {
    let (square, excess) = square::<L, T>(x);
    let (n, integer) = nearest_to_product::<L, T>(square, -T::LOG2_E, 0);
    let [high, low] = T::LN_2_PARTS;
    let r = fma::<L, T>(n, high, square) - fma::<L, T>(n, -low, excess);
    // (1 - r - e^-r) / r^2: as `exp_series`, with the signs of -r.
    let series = polynomial::<L, T, 5>(
        r,
        [-0.5, 0.166_665_769_897, -0.041_666_554_617_2, 0.008_363_179_052_72, -0.001_392_618_358_77],
    );
    (integer, T::of(1.0) - fma::<L, T>(r * r, series, r))
}

/// x^2 rounded, and by how much that is too large: e^-x^2 would lose as many bits as x^2 has before the point.
#[inline(always)]
fn square<L: Level, T: Format>(x: T) -> (T, T) {
    if L::FUSED {
        let square = x * x;
        return (square, x.fused(-x, square));
    }
    let high = T::of_bits(x.bits().and(T::Int::of(-0x1000)));
    (high * high, (high - x) * (x + high))
}

/// The inverse of erf, with the polynomials of Giles (*Approximating the erfinv function*, GPU Computing Gems, 2011).
#[inline(always)]
pub fn erf_inv<L: Level, T: Format>(x: T) -> T {
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
