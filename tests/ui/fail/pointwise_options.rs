#![allow(unused)]

use oxcall::prelude::*;

#[pointwise(derivative = 1)]
fn misspelt<T: Real>(x: T) -> T {
    x
}

#[pointwise(derivatives = 7)]
fn many<T: Real>(x: T) -> T {
    x
}

#[pointwise]
#[custom_call]
fn two<T: Real>(x: T) -> T {
    x
}

#[pointwise(derivatives = 0, vjp = f_vjp)]
fn without<T: Real>(x: T) -> T {
    x
}

#[custom_call(pointwise)]
fn custom<T: Real>(x: T) -> T {
    x
}

fn main() {}
