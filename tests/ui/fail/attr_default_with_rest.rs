#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr(rest, default = 1)] rest: Dict<'_>, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
