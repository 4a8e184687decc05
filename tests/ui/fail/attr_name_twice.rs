#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr] eps: f32, #[attr(name = "eps")] epsilon: f32, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
