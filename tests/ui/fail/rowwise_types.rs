#![allow(unused)]

use oxcall::prelude::*;

#[rowwise]
fn reduced(x: Row) -> PerRow {
    x - x.max()
}

#[rowwise]
fn captured(x: Row) -> Row {
    x * SCALE
}

#[rowwise]
fn chosen(x: Row) -> PerRow {
    let total = x.sum();
    if total > 1.0 { total } else { total * 2.0 }
}

fn main() {}
