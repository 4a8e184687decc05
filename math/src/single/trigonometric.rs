//! Sine and cosine, in double precision, which takes fewer operations than the care for the last bits does in single
//! precision. The tangent, which takes more operations in double precision, uses single precision with that care.

use std::f64::consts::FRAC_1_PI;

use crate::double::{self, Double};
use crate::elementary::{fma, nearest, polynomial, sum};
use crate::lane::Bits;
use crate::level::Level;

/// The remainder of `x` after a number of half turns. Twice that number is an integer.
#[inline(always)]
fn rest<L: Level, T: Double>(x: T, half_turns: T) -> T {
    if L::FUSED {
        const PI: [f64; 2] = [std::f64::consts::PI, f64::from_bits(0x3ca1_a626_3314_5c07)];
        let [high, low] = PI.map(|part| T::of_double(-part));
        return fma::<L, T>(half_turns, low, fma::<L, T>(half_turns, high, x));
    }
    /// Two parts of at most 33 bits, so that multiples are exact, and the rest.
    const PI: [f64; 3] = [
        f64::from_bits(0x4009_21fb_5440_0000),
        f64::from_bits(0x3de0_b461_1a60_0000),
        f64::from_bits(0x3bb3_198a_2e03_7073),
    ];
    let [first, second, third] = PI.map(T::of_double);
    x - half_turns * first - half_turns * second - half_turns * third
}

/// The sine of an angle of at most a quarter turn, with the sign changed after an odd number of half turns.
#[inline(always)]
fn turned_sin<L: Level, T: Double>(x: T, half_turns: T::Int) -> T {
    let u = x * x;
    // (sin x - x) / x^3 in u = x^2, up to pi / 2; 6.1e-9 of the sine, a tenth of a unit in the last place.
    let series = double::polynomial::<L, T, 4>(
        u,
        &[-0.166_666_595_209_272_72, 0.008_333_065_425_149_431, -0.000_198_095_386_903_554_3, 2.605_630_613_374_925e-6],
    );
    // Keeps -0.
    let sin = x * fma::<L, T>(u, series, T::of(1.0));
    // Adding the top bit changes the sign.
    T::of_bits(sin.bits().plus(half_turns.left(63)))
}

/// sin x.
#[inline(always)]
pub(super) fn sin<L: Level>(x: f32) -> f32 {
    sin_in_double::<L, f64>(x.into()) as f32
}

/// The same before it is rounded to single precision, whose number the angle is.
#[inline(always)]
pub fn sin_in_double<L: Level, T: Double>(x: T) -> T {
    let (n, half_turns) = nearest(x * T::of_double(FRAC_1_PI));
    turned_sin::<L, T>(rest::<L, T>(x, n), half_turns)
}

/// cos x = sin(pi / 2 - x).
#[inline(always)]
pub(super) fn cos<L: Level>(x: f32) -> f32 {
    cos_in_double::<L, f64>(x.into()) as f32
}

/// The same before it is rounded to single precision, whose number the angle is.
#[inline(always)]
pub fn cos_in_double<L: Level, T: Double>(x: T) -> T {
    let (n, half_turns) = nearest(fma::<L, T>(x, T::of_double(FRAC_1_PI), T::of(-0.5)));
    turned_sin::<L, T>(-rest::<L, T>(x, n + T::of(0.5)), half_turns)
}

/// tan x.
#[inline(always)]
pub(super) fn tan<L: Level>(x: f32) -> f32 {
    /// pi / 2 in parts: three of 11 bits, so that multiples are exact, and the rest.
    const PARTS: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_62e-8, 2.563_344e-12];
    let (n, quarter_turns) = nearest(x * std::f32::consts::FRAC_2_PI);
    let high = fma::<L, f32>(n, -PARTS[1], fma::<L, f32>(n, -PARTS[0], x));
    let r = fma::<L, f32>(n, -PARTS[2], high);
    // The rounding error of the third part.
    let lost = fma::<L, f32>(n, -PARTS[2], high - r);
    let [r, tail] = sum(r, fma::<L, f32>(n, -PARTS[3], lost));
    let u = r * r;
    // (tan r - r) / r^3 in u = r^2, up to pi / 4; 1.3e-9 of the tangent.
    let series = polynomial::<L, f32, 7>(
        u,
        &[
            0.333_333_500_32,
            0.133_326_534_8,
            0.054_061_071_57,
            0.021_276_032_23,
            0.010_852_244_782,
            6.812_186_94e-5,
            0.004_387_116_495,
        ],
    );
    let [tan, low] = sum(r, fma::<L, f32>(r * u, series, fma::<L, f32>(tail, u, tail)));
    // -1 / tan after an odd number of quarter turns, and the rounding errors of both.
    let inverse = -1.0 / tan;
    let left = fma::<L, f32>(inverse, low, fma::<L, f32>(inverse, tan, 1.0));
    let result = if quarter_turns & 1 == 0 { tan } else { fma::<L, f32>(inverse, left, inverse) };
    // Also keeps -0.
    if x.abs() < 1e-8 { x } else { result }
}
