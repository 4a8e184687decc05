#![allow(unused)]

use oxcall::prelude::*;

struct S;

#[stage(prepare)]
fn make(#[state(initialize)] s: &S) -> S {
    S
}

fn main() {}
