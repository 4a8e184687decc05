#![allow(unused)]

use oxcall::prelude::*;

#[rowwise]
fn silent(x: Row) {
    x.sum();
}

#[rowwise]
fn number(x: Row) -> f64 {
    x.sum()
}

#[rowwise]
fn several(x: Row) -> (Row, Vec<PerRow>) {
    (x, vec![x.sum()])
}

#[rowwise]
fn named(x: Row, out: Row, tx: Row) -> Row {
    x
}

#[rowwise]
fn swapped(x: Row) -> PerRow {
    x
}

#[rowwise]
struct Softmax;

fn main() {}
