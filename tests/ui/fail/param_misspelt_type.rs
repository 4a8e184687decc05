#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: Arry<f32>, mut y: Out<f32>) {}

fn main() {}
