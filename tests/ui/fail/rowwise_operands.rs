#![allow(unused)]

use oxcall::prelude::*;

#[rowwise]
fn whole(x: Array<f32>, ys: &[f32], rows: Vec<Row>, pool: ThreadPool) -> Row {
    x
}

#[rowwise]
fn typed(x: Row<f32>, beta: f64, #[attr] other: Row, #[dims(n)] y: Row) -> Row {
    y
}

#[rowwise]
fn numbers(x: PerRow, #[attr] beta: f64) -> PerRow {
    x * beta
}

#[rowwise]
fn generic<T: Real>(x: T) -> T {
    x
}

fn main() {}
