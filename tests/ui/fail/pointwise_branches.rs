#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
fn relu<T: Real>(x: T) -> T {
    if x.greater(0.0) { x } else { T::from(0.0) }
}

#[pointwise]
fn leaky<T: Real>(x: T, #[attr] slope: f64) -> T {
    let is_negative = x < 0.0;
    // An attribute is the same for all elements.
    if slope > 0.0 { x * slope } else { x }
}

#[pointwise]
fn squared<T: Real>(x: T) -> T {
    let square = x * x;
    if square < 1.0 { square } else { x }
}

// What is computed from an operand differs from element to element as well.
#[pointwise]
fn derived<T: Real>(x: T) -> T {
    let y = x * 2.0;
    let is_small = y.less(1.0);
    if is_small { y } else { x }
}

#[pointwise]
fn compared<T: Real>(x: T) -> T {
    let y = x.exp() + 1.0;
    let large = y > 1.0;
    x
}

#[pointwise]
fn bound<T: Real<Mask = bool>>(x: T) -> T {
    x
}

fn main() {}
