#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(T = [f32])]
fn op<T: Float>(#[attr] w: &[T], x: Array<T>, mut y: Out<T>) {}

fn main() {}
