#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(..b, n, m)] x: ArrayView1<f32>, #[dims(n)] mut y: Out<f32>) {}

fn main() {}
