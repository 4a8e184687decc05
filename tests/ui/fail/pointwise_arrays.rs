#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
fn whole<T: Real>(x: Array<T>, ys: &[T], pairs: [T; 2], pool: ThreadPool) -> T {
    T::from(0.0)
}

#[pointwise]
fn nothing<T: Real>(#[attr] beta: f64) -> T {
    T::from(beta)
}

fn main() {}
