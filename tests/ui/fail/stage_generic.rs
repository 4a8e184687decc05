#![allow(unused)]

use oxcall::prelude::*;

struct S;

#[stage(instantiate)]
fn make<T>() -> S {
    S
}

fn main() {}
