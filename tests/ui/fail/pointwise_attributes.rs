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

fn main() {}
