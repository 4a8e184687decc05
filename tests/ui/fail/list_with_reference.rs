#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = [&str])]
fn op<T: Element>(x: Array<T>, mut y: Out<T>) {}

fn main() {}
