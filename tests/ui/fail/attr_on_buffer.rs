#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr] x: Array<f32>, mut y: ScalarOut<f32>) {}

fn main() {}
