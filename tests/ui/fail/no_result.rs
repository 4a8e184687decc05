#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: Array<f32>) {}

fn main() {}
