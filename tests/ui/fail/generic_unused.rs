#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = floats)]
fn op<T: Element>(x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
