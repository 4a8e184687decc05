#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[att] eps: f32, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
