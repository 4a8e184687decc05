//! Pointwise functions beside formulas of `jax.numpy` and torch: `cargo xtask bench pointwise`.

use std::f64::consts::FRAC_1_SQRT_2;

use oxcall::prelude::*;

/// `x` times the probability that a normal number is smaller.
#[pointwise(derivatives = 1)]
fn gelu<T: Real>(x: T) -> T {
    x * 0.5 * (-x * FRAC_1_SQRT_2).erfc()
}

/// `ln(1 + exp(x))`.
#[pointwise(derivatives = 1)]
fn softplus<T: Real>(x: T) -> T {
    x.log_add_exp(0.0)
}

/// Twenty functions and operators in a row.
#[pointwise(derivatives = 1)]
fn chain<T: Real>(x: T, y: T) -> T {
    let a = ((x * 0.5 + y).sin() * (y - x * 0.25).cos() + 1.0).abs();
    let b = (-a * a + 1.0).exp() / (a.sqrt() + 0.5);
    (b * x + y * 0.125 - a).tanh().maximum(b - 2.0)
}
