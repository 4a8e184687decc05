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

fn main() {}
