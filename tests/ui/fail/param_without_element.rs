#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: Array, mut y: Out<f32>) {}

fn main() {}
