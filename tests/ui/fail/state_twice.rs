#![allow(unused)]

use oxcall::prelude::*;

struct S;

#[stage(instantiate)]
fn make() -> S {
    S
}

#[custom_call(instantiate = make)]
fn op(#[state] s: &S, #[state] t: &S, x: Array<f32>, mut y: Out<f32>) {}

fn main() {}
