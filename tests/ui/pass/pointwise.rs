//! Pointwise functions of every form, under names that the expansion uses itself.

#![forbid(unsafe_code)]
#![allow(non_snake_case)]

use oxcall::AttrEnum;
use oxcall::prelude::*;

#[derive(AttrEnum, Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Its attributes: an integer, an enum, one that may be absent, and names of derivatives.
#[pointwise(name = "every_form", derivatives = 1)]
fn forms<T>(
    #[attr] n: i32,
    x: T,
    #[attr(default = Side::Left)] side: Side,
    y: T,
    #[attr] shape: Option<f64>,
    #[attr(name = "d")] dx: f64,
    #[attr] pool: bool,
) -> (T, T)
where
    T: Real,
{
    let z = match side {
        Side::Left => x,
        Side::Right => y,
    };
    if pool { (z.powi(n), y / dx) } else { (z * shape.unwrap_or(1.0), x) }
}

/// An operand whose name is that of a cotangent.
#[pointwise]
pub fn named<Number: Real>(x: Number, dx: Number) -> Number {
    x * dx
}

/// Attributes that borrow from the call.
#[pointwise]
fn borrowed<'a, T: Real>(
    x: T,
    #[attr] mode: &str,
    #[attr] weights: &'a [f64],
    #[attr] more: Dict<'_>,
    #[attr] name: Option<&'a str>,
) -> T {
    let scale = more.get::<f64>("scale").unwrap().unwrap_or(1.0);
    let sum = weights.iter().fold(T::from(0.0), |sum, weight| sum * x + *weight);
    if mode == "scaled" && name.is_some() { sum * scale } else { sum }
}

/// A derivative that is written, of a function that has an attribute between its operands.
#[pointwise(vjp = written_vjp)]
fn written<T: Real>(x: T, #[attr] mode: &str, y: T) -> (T, T) {
    if mode == "plain" { (x, y) } else { (y, x) }
}

fn written_vjp<T: Real>(_x: T, _y: T, dout0: T, dout1: T, _mode: &str) -> (T, T) {
    (dout0, dout1)
}

mod other {
    #[oxcall::pointwise(derivatives = 0)]
    pub(crate) fn call<T: oxcall::pointwise::Real>(x: T) -> T {
        helper(x)
    }

    fn helper<T: oxcall::pointwise::Real>(x: T) -> T {
        x.floor()
    }
}

// What is bound in the body, called, or in upper case is not captured.
const HALF: f64 = 0.5;

fn half<T: Real>(x: T) -> T {
    x * HALF
}

#[pointwise]
fn bound<T: Real>(x: T, #[attr] n: i64) -> T {
    use std::f64::consts::PI as pi;
    fn square<T: Real>(y: T) -> T {
        y * y
    }
    let (mut sum, map) = (half(x), square::<T>);
    for power in 0..n {
        sum += map(x) * pi * power as f64;
    }
    sum
}

fn main() {
    let pair = forms(2, oxcall::pointwise::Scalar(3.0f32), Side::Left, 1.0.into(), None, 2.0, true);
    assert_eq!((pair.0.0, pair.1.0), (9.0, 0.5));
    let _ = other::call(oxcall::pointwise::Scalar(1.0f64));
}
