#![allow(unused)]

use oxcall::prelude::*;

#[pointwise]
fn names<T: Real>(x: T) -> T {
    x.max(0.0) + x.log1p() + x.sigmoid()
}

fn main() {}
