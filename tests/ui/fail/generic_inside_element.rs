#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = [f32])]
fn op<T: Float>(x: Array<T>, z: Array<Complex<T>>, mut y: Out<T>) {}

fn main() {}
