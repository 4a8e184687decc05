//! Functions of `f64` without branches, so that loops of them become vector code.
//!
//! As [`single`](super::single), each reduces its argument to an interval where a few terms of its series are enough.
//! Errors against the standard library are tested: two or three units in the last place.

mod exp;
mod log;
mod trigonometric;

pub use exp::{exp, expm1, logistic, tanh};
pub use log::{ln, ln_1p};
pub use trigonometric::{cos, is_angle_easy, sin, tan};

use super::level::Level;

/// `a * b + c`, fused if the processor does that at no cost.
#[inline(always)]
fn fma<L: Level>(a: f64, b: f64, c: f64) -> f64 {
    if L::FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The polynomial with the given coefficients, lowest power first.
#[inline(always)]
fn polynomial<L: Level, const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    for index in (0..N - 1).rev() {
        sum = fma::<L>(sum, x, coefficients[index]);
    }
    sum
}

/// 1 / n!, for an n of at most 18, of which the factorial is exact.
const fn inverse_factorial(n: u32) -> f64 {
    let (mut product, mut factor) = (1u64, 1);
    while factor <= n {
        product *= factor as u64;
        factor += 1;
    }
    1.0 / product as f64
}

/// Adding it to a number of at most 2^51 rounds to an integer, which is then in the lowest bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The nearest integer of a number of at most 2^51, as a float and as an integer.
#[inline(always)]
fn nearest(x: f64) -> (f64, i64) {
    let shifted = x + ROUNDER;
    (shifted - ROUNDER, (shifted.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64))
}

/// 2^n of a normal number.
#[inline(always)]
fn power_of_two(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}

/// ln 2 in two parts, of which the first times an integer of up to 20 bits is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
