//! Functions of `f32` without branches, so that loops of them become vector code.
//!
//! Each reduces its argument to an interval where a polynomial is enough. Coefficients are Chebyshev fits (`chebyfit` of
//! mpmath, 40 digits) of the function given beside them, which are within a few percent of the best; the error of the
//! fit is given, too. Errors against the exact function are tested: two or three units in the last place.
#![expect(
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "coefficients are written with the digits that the fit gave"
)]

mod angle;
mod error;
mod exp;
mod log;
mod power;
mod trigonometric;

pub use angle::atan2;
pub use error::{erf, erf_inv, erfc};
pub use exp::{exp, expm1, logistic, tanh};
pub use log::{ln, ln_1p};
pub use power::{is_power_easy, power};
pub use trigonometric::{cos, is_angle_easy, sin, tan};

use super::level::Level;

/// `a * b + c`, fused if the processor does that at no cost.
#[inline(always)]
fn fma<L: Level>(a: f32, b: f32, c: f32) -> f32 {
    if L::FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
fn polynomial<L: Level, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[N - 1];
    for index in (0..N - 1).rev() {
        sum = fma::<L>(sum, x, coefficients[index]);
    }
    sum
}

/// Adding it to a number of at most 2^22 rounds to an integer, which is then in the lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// The nearest integer of a number of at most 2^22, as a float and as an integer.
#[inline(always)]
fn nearest(x: f32) -> (f32, i32) {
    let shifted = x + ROUNDER;
    (shifted - ROUNDER, (shifted.to_bits() as i32).wrapping_sub(ROUNDER.to_bits() as i32))
}

/// 2^n of a normal number.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}
