#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = floats, U = ints)]
fn op<T: Element>(x: Array<T>, mut y: Out<T>) {}

fn main() {}
