//! The error function, its complement and its inverse.

use super::polynomial;
use crate::elementary::{Format, even_and_odd, fma, ln_1p, nearest_to_product, power_of_two_of_biased};
use crate::lane::{Bits, Number};
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

/// By which [`gauss`] is larger than the exponential: so that it and all that it is made of are normal numbers.
pub const GAUSS_SCALE: f32 = 18_446_744_073_709_551_616.0;

/// 1 - erf x.
#[inline(always)]
pub fn erfc<L: Level, T: Format>(x: T) -> T {
    erfc_of_gauss::<L, T>(x, gauss::<L, T>(x))
}

/// |x|, no larger than where 1 - erf x and e^-x^2 are 0; NaN stays.
#[inline(always)]
fn bounded<T: Format>(x: T) -> T {
    let (a, end) = (x.magnitude(), T::of(10.25));
    T::select(end.less(a), end, a)
}

/// 2^64 e^-x^2.
#[inline(always)]
pub fn gauss<L: Level, T: Format>(x: T) -> T {
    let (square, excess) = square::<L, T>(bounded(x));
    let (n, integer) = nearest_to_product::<L, T>(square, -T::LOG2_E, T::BIAS + 64);
    let [high, low] = T::LN_2_PARTS;
    let r = fma::<L, T>(n, high, square) - fma::<L, T>(n, -low, excess);
    // e^-r, for an r of at most ln 2 / 2; a least maximum, 3.3e-9.
    let power = polynomial::<L, T, 7>(
        r,
        [
            1.0,
            -1.0,
            0.499_999_940_395,
            -0.166_665_196_419,
            0.041_668_396_443_1,
            -0.008_368_796_668_95,
            0.001_381_443_347_78,
        ],
    );
    power * power_of_two_of_biased::<T>(integer)
}

/// 1 - erf x, of x and the exponential e^-(x x), with the square rounded.
#[inline(always)]
pub fn erfc_of_exp<L: Level, T: Format>(x: T, exp: T) -> T {
    let a = bounded(x);
    let rounded = a * a;
    let excess = if L::FUSED {
        a.fused(-a, rounded)
    } else {
        // Each product of parts of a number is exact, and so are these differences, the largest parts first.
        let high = high_part(a);
        let low = a - high;
        rounded - high * high - (low + low) * high - low * low
    };
    // The excess is below 2^-18, so that its square is far below the last bit.
    let gauss = fma::<L, T>(exp, excess, exp) * T::of(GAUSS_SCALE);
    erfc_of_gauss::<L, T>(x, gauss)
}

/// 1 - erf x, of x and its [`gauss`].
#[inline(always)]
pub fn erfc_of_gauss<L: Level, T: Format>(x: T, gauss: T) -> T {
    // e^(x^2) erfc(x) (x + 1.5) in s = (x - 1.5) / (x + 1.5), for an x of at most 10.25; a least maximum, 1.4e-8. With
    // one reciprocal, since a quotient takes as long as ten other operations. A larger number than 1.5 needs fewer
    // coefficients, but s is rounded, and the function of it is steeper near 0.
    let reciprocal = T::of(1.0) / (bounded(x) + T::of(1.5));
    let s = fma::<L, T>(T::of(-3.0), reciprocal, T::of(1.0));
    // By even and odd powers: the loops that divide wait for this sum more than for anything else.
    let coefficients = [
        0.964_756_250_381,
        -0.507_850_050_926,
        0.075_622_893_869_9,
        0.047_769_755_125,
        -0.008_134_705_945_85,
        -0.009_473_953_396_08,
        -0.000_737_907_830_626,
        0.001_828_156_295_23,
        0.000_735_152_163_543,
        -0.000_172_327_534_528,
        -0.000_140_122_880_111,
    ]
    .map(|coefficient: f32| coefficient / GAUSS_SCALE);
    let q = even_and_odd::<L, T, 11>(
        s,
        #[inline(always)]
        |index| T::of(coefficients[index]),
    );
    // Only this product may be subnormal.
    let tail = gauss * (q * reciprocal);
    let far = T::select(x.bits().less(T::Int::of(0)), T::of(2.0) - tail, tail);
    // -erf x / x in x^2, up to 0.46; 6.5e-10.
    let slope = polynomial::<L, T, 5>(
        x * x,
        [-1.128_379_166_4, 0.376_126_234_28, -0.112_832_037_11, 0.026_787_724_659, -0.004_793_255_359_6],
    );
    T::select(x.magnitude().less(T::of(0.45)), fma::<L, T>(x, slope, T::of(1.0)), far)
}

/// x^2 rounded, and by how much that is too large: e^-x^2 would lose as many bits as x^2 has before the point.
#[inline(always)]
fn square<L: Level, T: Format>(x: T) -> (T, T) {
    if L::FUSED {
        let square = x * x;
        return (square, x.fused(-x, square));
    }
    let high = high_part(x);
    (high * high, (high - x) * (x + high))
}

/// x without the lower half of its digits.
#[inline(always)]
fn high_part<T: Format>(x: T) -> T {
    T::of_bits(x.bits().and(T::Int::of(-0x1000)))
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
