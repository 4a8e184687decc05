#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = floats)]
fn op<T: Float>(a: T, x: Array<T>, mut y: Out<T>) {}

fn main() {}
