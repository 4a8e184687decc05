#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(..b, ..c)] x: Array<f32>, #[dims(..b)] mut y: Out<f32>) {}

fn main() {}
