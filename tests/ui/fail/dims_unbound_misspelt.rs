#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(..batch, widht)] x: Array<f32>, #[dims(..batch, width)] mut y: Out<f32>) {}

fn main() {}
