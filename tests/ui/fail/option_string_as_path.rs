#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(vmap = sequential)]
fn op(x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
