#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
fn op<T: Real>(x: T, beta: f64, #[attr] gamma: T, #[dims(n)] y: T, #[attr] names: Vec<f64>) -> T {
    x * beta
}

#[pointwise]
fn listed<T: Real>(x: T, #[attr] weights: Vec<f64>) -> T {
    x * weights[0]
}

#[pointwise]
fn narrow<T: Real>(x: T, #[attr] b: f32, #[attr] n: i64) -> T {
    let y = x * b;
    let b = f64::from(b);
    y * b + n
}

#[pointwise]
fn forever<T: Real>(x: T, #[attr] mode: &'static str) -> T {
    x
}

#[pointwise]
fn kept<T: Ring>(x: T, #[attr] mode: &str) -> T {
    x
}

fn main() {}
