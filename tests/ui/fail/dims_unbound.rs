#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(..b, n)] x: Array<f32>, #[dims(..b, m)] mut y: Out<f32>) {}

fn main() {}
