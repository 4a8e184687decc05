#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(xs: Variadic<InOut<f32>>) {}

fn main() {}
