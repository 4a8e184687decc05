#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(n)] x: Array<f32>, #[dims(n << 1)] mut y: Out<f32>) {}

fn main() {}
