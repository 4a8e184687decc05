#![allow(unused)]

use oxcall::prelude::*;

struct S;

#[stage(initialise)]
fn make() -> S {
    S
}

fn main() {}
