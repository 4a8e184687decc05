#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
struct Softplus;

#[pointwise]
static SOFTPLUS: fn(f64) -> f64 = |x| x.exp().ln_1p();

#[pointwise]
fn of_doubles(x: f64) -> f64 {
    x
}

#[pointwise]
fn unbounded<T>(x: T) -> T {
    x
}

#[pointwise]
fn of_two<T: Real, U: Real>(x: T, y: U) -> T {
    x
}

#[pointwise]
unsafe fn dangerous<T: Real>(x: T) -> T {
    x
}

fn main() {}
