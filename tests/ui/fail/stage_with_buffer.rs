#![allow(unused)]

use oxcall::prelude::*;

struct S;

#[stage(instantiate)]
fn make(x: Array<f32>) -> S {
    S
}

fn main() {}
