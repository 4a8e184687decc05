//! Sine, cosine and tangent of `f64`.

use super::{COSINE, SINE};
use crate::elementary::{fma, nearest, polynomial, sum};
use crate::lane::Lane;
use crate::level::Level;

/// The sine and cosine of the remainder of x after multiples of pi / 2, each rounded with its rounding error; and the
/// number of multiples.
#[inline(always)]
fn quarter_turns<L: Level>(x: f64) -> ([f64; 2], [f64; 2], i64) {
    /// pi / 2 in parts: three of at most 33 bits, so that multiples are exact, and the rest.
    const PARTS: [f64; 4] = [
        f64::from_bits(0x3ff9_21fb_5440_0000),
        f64::from_bits(0x3dd0_b461_1a60_0000),
        f64::from_bits(0x3ba3_198a_2e00_0000),
        f64::from_bits(0x397b_839a_2520_49c1),
    ];
    let (n, integer) = nearest(x * std::f64::consts::FRAC_2_PI);
    let high = fma::<L, f64>(n, -PARTS[0], x);
    let r = fma::<L, f64>(n, -PARTS[1], high);
    // The rounding error of the second part.
    let lost = fma::<L, f64>(n, -PARTS[1], high - r);
    let tail = fma::<L, f64>(n, -PARTS[3], fma::<L, f64>(n, -PARTS[2], lost));
    let [r, tail] = sum(r, tail);
    let u = r * r;
    let sin = sum(r, fma::<L, f64>(-r * u, polynomial::<L, f64, 8>(u, &SINE), tail));
    let half = 0.5 * u;
    let one = 1.0 - half;
    let small = fma::<L, f64>(u * u, polynomial::<L, f64, 7>(u, &COSINE), -r * tail);
    let cos = sum(one, (1.0 - one) - half + small);
    (sin, cos, integer)
}

#[inline(always)]
fn is_even(n: i64) -> bool {
    n & 1 == 0
}

/// `x`, with the sign changed after an odd number of half turns.
#[inline(always)]
fn turned(x: f64, quarters: i64) -> f64 {
    // The second bit becomes the sign.
    f64::of_bits(x.bits() ^ (quarters & 2) << 62)
}

/// The value `f` of a function of `x`, or x itself if it is so small that the function is x. Also keeps -0.
#[inline(always)]
fn or_tiny(x: f64, f: f64) -> f64 {
    if x.abs() < 1e-8 { x } else { f }
}

/// sin x.
#[inline(always)]
pub(super) fn sin<L: Level>(x: f64) -> f64 {
    let ([sin, _], [cos, _], n) = quarter_turns::<L>(x);
    or_tiny(x, turned(if is_even(n) { sin } else { cos }, n))
}

/// cos x.
#[inline(always)]
pub(super) fn cos<L: Level>(x: f64) -> f64 {
    let ([sin, _], [cos, _], n) = quarter_turns::<L>(x);
    turned(if is_even(n) { cos } else { sin }, n.wrapping_add(1))
}

/// tan x.
#[inline(always)]
pub(super) fn tan<L: Level>(x: f64) -> f64 {
    let (sin, cos, n) = quarter_turns::<L>(x);
    let turn = |even: f64, odd: f64| if is_even(n) { even } else { odd };
    let (above, below) = (turn(sin[0], -cos[0]), turn(cos[0], sin[0]));
    let tan = above / below;
    if !L::FUSED {
        return or_tiny(x, tan);
    }
    // The remainder of the numerator, over the denominator.
    let (above_low, below_low) = (turn(sin[1], -cos[1]), turn(cos[1], sin[1]));
    let rest = fma::<L, f64>(-tan, below, above) + fma::<L, f64>(-tan, below_low, above_low);
    or_tiny(x, tan + rest / below)
}
