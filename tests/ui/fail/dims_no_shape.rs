#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(mut y: Out<f32>) {}

fn main() {}
