//! Sine, cosine and tangent.

use super::{fma, inverse_factorial, nearest, polynomial};
use crate::math::level::Level;

/// Every second term of a series of inverse factorials with alternating signs, from `first` on.
const fn alternating<const N: usize>(first: u32) -> [f64; N] {
    let mut series = [0.0; N];
    let mut k = 0;
    while k < N {
        let term = inverse_factorial(first + 2 * k as u32);
        series[k] = if k % 2 == 0 { -term } else { term };
        k += 1;
    }
    series
}

/// (sin r - r) / r^3 in r^2, whose next term is below 1e-19.
const SINE: [f64; 8] = alternating(3);

/// (1 - r^2 / 2 - cos r) / r^4 in r^2, whose next term is below 3e-18.
const COSINE: [f64; 7] = alternating(4);

/// Whether these functions are accurate for `x`: the multiple of pi / 2 next to it has few enough bits.
#[inline(always)]
pub fn is_angle_easy(x: f64) -> bool {
    x.abs() <= 1_000_000.0
}

/// The sine and cosine of what is left of x after multiples of pi / 2, and their number.
#[inline(always)]
fn reduced<L: Level>(x: f64) -> (f64, f64, i64) {
    /// pi / 2 in parts: three of at most 33 bits, so that multiples are exact, and the rest.
    const PARTS: [f64; 4] = [
        f64::from_bits(0x3ff9_21fb_5440_0000),
        f64::from_bits(0x3dd0_b461_1a60_0000),
        f64::from_bits(0x3ba3_198a_2e00_0000),
        f64::from_bits(0x397b_839a_2520_49c1),
    ];
    let (n, integer) = nearest(x * std::f64::consts::FRAC_2_PI);
    let high = fma::<L>(n, -PARTS[0], x);
    let r = fma::<L>(n, -PARTS[1], high);
    // What rounding lost of the second part.
    let lost = fma::<L>(n, -PARTS[1], high - r);
    let tail = fma::<L>(n, -PARTS[3], fma::<L>(n, -PARTS[2], lost));
    let (r, tail) = (r + tail, tail - ((r + tail) - r));
    let u = r * r;
    let sin = fma::<L>(r * u, polynomial::<L, 8>(u, &SINE), tail) + r;
    let half = 0.5 * u;
    let one = 1.0 - half;
    let small = fma::<L>(u * u, -polynomial::<L, 7>(u, &COSINE), -r * tail);
    let cos = one + ((1.0 - one) - half + small);
    (sin, cos, integer)
}

/// sin x.
#[inline(always)]
pub fn sin<L: Level>(x: f64) -> f64 {
    let (sin, cos, n) = reduced::<L>(x);
    let value = if n & 1 == 0 { sin } else { cos };
    let result = f64::from_bits(value.to_bits() ^ ((n as u64 & 2) << 62));
    // Also keeps -0.
    if x.abs() < 1e-8 { x } else { result }
}

/// cos x.
#[inline(always)]
pub fn cos<L: Level>(x: f64) -> f64 {
    let (sin, cos, n) = reduced::<L>(x);
    let value = if n & 1 == 0 { cos } else { sin };
    f64::from_bits(value.to_bits() ^ ((n.wrapping_add(1) as u64 & 2) << 62))
}

/// tan x.
#[inline(always)]
pub fn tan<L: Level>(x: f64) -> f64 {
    let (sin, cos, n) = reduced::<L>(x);
    let result = if n & 1 == 0 { sin / cos } else { -cos / sin };
    // Also keeps -0.
    if x.abs() < 1e-8 { x } else { result }
}
