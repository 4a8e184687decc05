#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(n * k)] x: Array<f32>, #[dims(n)] z: Array<f32>, mut y: Out<f32>) {}

fn main() {}
