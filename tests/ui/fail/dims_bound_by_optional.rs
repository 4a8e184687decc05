#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: Array<f32>, #[dims(n)] m: Option<Array<f32>>, #[dims(n)] mut y: Out<f32>) {}

fn main() {}
