#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
fn buffer<T: Real>(x: T) -> Out<T> {
    x
}

#[pointwise]
fn mask<T: Real>(x: T) -> bool {
    true
}

#[pointwise]
fn silent<T: Real>(x: T) {}

#[pointwise]
fn named<T: Real>(x: T, out: T) -> T {
    x
}

#[pointwise]
fn tangents<T: Real>(x: T, tx: T) -> T {
    x * tx
}

#[pointwise]
fn active<T: Real>(x: T, #[attr] jvp_active: i64) -> T {
    x
}

fn main() {}
