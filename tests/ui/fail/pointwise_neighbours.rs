#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
fn difference<T: Real>(x: T, #[attr] i: i64) -> T {
    x[i] - x[i - 1]
}

#[pointwise]
fn sum<T: Real>(x: T) -> T {
    let mut sum = T::from(0.0);
    for value in x {
        sum += value;
    }
    sum
}

fn main() {}
