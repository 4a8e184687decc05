#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[dims(n, m)] x: Array<f32, Rank<3>>, #[dims(n)] mut y: Out<f32>) {}

fn main() {}
