//! Pointwise functions whose derivatives are written.

use oxcall::prelude::*;

/// The nearest integer, with the derivative of its operand: the straight-through estimator.
#[pointwise(vjp = rounded_vjp)]
fn rounded<T: Real>(x: T) -> T {
    x.round()
}

#[inline]
fn rounded_vjp<T: Real>(_x: T, dout: T) -> T {
    dout
}

/// `ln(1 + exp(x)) * y` and `y^power`. The derivatives are 3 times the true ones, so that tests see which are used.
#[pointwise(vjp = ramp_vjp)]
fn ramp<T: Real>(x: T, #[attr(default = 2.0)] power: f64, y: T) -> (T, T) {
    (x.log_add_exp(0.0) * y, y.powf(power))
}

#[inline]
fn ramp_vjp<T: Real>(x: T, y: T, dout0: T, dout1: T, power: f64) -> (T, T) {
    let dy = dout0 * x.log_add_exp(0.0) + dout1 * y.powf(power - 1.0) * power;
    (dout0 * y * x.logistic() * 3.0, dy * 3.0)
}

/// The product, by its derivative in forward mode, which is 3 times the true one.
#[pointwise(jvp = moved_product)]
fn written_product<T: Ring>(x: T, y: T) -> T {
    x * y
}

#[inline]
fn moved_product<T: Ring>(x: T, y: T, tx: T, ty: T) -> T {
    (tx * y + x * ty) * T::int(3)
}
