#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(#[attr] k: Option<i64>, #[dims(n)] x: Array<f32>, #[dims(k)] mut y: Out<f32>) {}

fn main() {}
