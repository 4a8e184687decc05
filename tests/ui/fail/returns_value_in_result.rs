#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: Array<f32>, mut y: Out<f32>) -> Result<f32> {
    unimplemented!()
}

fn main() {}
