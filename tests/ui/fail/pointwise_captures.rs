#![allow(unused)]

use oxcall::prelude::*;

fn ops(scale: f64) {
    let shift = 1.0;

    #[pointwise]
    fn moved<T: Real>(x: T) -> T {
        let twice = |y: T| y * 2.0;
        twice(x) * scale + shift
    }

    #[rowwise]
    fn scaled(x: Row) -> Row {
        x * scale
    }
}

fn main() {}
