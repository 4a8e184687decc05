#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op(x: Array<f32>, mut y: Out<f32>, later: Async<'_>) -> Result<()> {
    unimplemented!()
}

fn main() {}
