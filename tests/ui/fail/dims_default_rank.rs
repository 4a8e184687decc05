#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: ArrayView2<f32>, mut y: ArrayViewMut1<f32>) {}

fn main() {}
