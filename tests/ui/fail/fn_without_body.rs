#![allow(unused)]

use oxcall::prelude::*;

trait Ops {
    #[custom_call]
    fn op(x: Array<f32>, y: Out<f32>);
}

fn main() {}
