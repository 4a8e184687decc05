#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr] b: i64, #[dims(..b, n)] x: Array<f32>, #[dims(n)] mut y: Out<f32>) {}

fn main() {}
