#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(cache: &Cache, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
