#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: impl Copy, mut y: Out<f32>) {}

fn main() {}
