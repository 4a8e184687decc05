#![allow(unused)]

use oxcall::prelude::*;

struct Unknown;

#[custom_call(T = [f32, Unknown])]
fn op<T: Element>(x: Array<T>, mut y: Out<T>) {}

fn main() {}
