#![allow(unused)]

use oxcall::prelude::*;

#[custom_call(platform = "CUDA")]
fn op(x: Array<f32>, mut y: DeviceOut<f32>) {}

fn main() {}
