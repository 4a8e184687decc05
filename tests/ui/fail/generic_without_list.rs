#![allow(unused)]

use oxcall::prelude::*;

#[custom_call]
fn op<T: Element>(x: Array<T>, mut y: Out<T>) {}

fn main() {}
