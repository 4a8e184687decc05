#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr(rest)] a: Dict<'_>, #[attr(rest)] b: Dict<'_>, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
