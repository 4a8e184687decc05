#![allow(unused)]

use oxcall::prelude::*;

// Every mistake is reported in one run.
#[custom_call(vmpa = "sequential", T = flaots, platform = "cuda", legacy = true)]
async fn op<T: Float, U>(
    #[att] eps: f32,
    #[attr(default = 1)] k: Option<i64>,
    #[dims(..b, -1)] x: Arry<T>,
    _: Array<T>,
    mask: Option<Array<T>>,
    z: Array<'static, T>,
    #[state] cache: &mut f32,
    mut y: Out<T>,
) -> f32 {
    0.0
}

// Code that uses the function and its type gets no errors of its own.
fn uses(x: Array<f32>, y: Out<f32>) {
    let _ = op::<f32, f32>;
    let _: op;
}

fn main() {}
