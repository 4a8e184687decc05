#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(xs: Variadic<Array<f32>>, mask: Option<Array<f32>>, mut y: ScalarOut<f32>) {}

fn main() {}
