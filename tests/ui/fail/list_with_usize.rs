#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = [f32, usize])]
fn op<T: Element>(x: Array<T>, mut y: Out<T>) {}

fn main() {}
