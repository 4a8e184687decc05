#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr(default = 1.0)] eps: Option<f32>, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
