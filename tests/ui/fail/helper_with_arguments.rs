#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[arg(first)] x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
