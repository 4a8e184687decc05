#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(n, 4usize)] x: Array<f32>, #[dims(n)] mut y: Out<f32>) {}

fn main() {}
