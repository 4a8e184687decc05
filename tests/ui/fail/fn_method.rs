#![allow(unused)]

use oxcall::prelude::*;

struct S;

impl S {
    #[custom_call]
    fn op(&self, x: Array<f32>, mut y: Out<f32>) {}
}

fn main() {}
