#![allow(unused)]

use oxcall::prelude::*;

struct S;

#[stage]
fn make() -> S {
    S
}

fn main() {}
