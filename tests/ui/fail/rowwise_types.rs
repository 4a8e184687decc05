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

fn main() {}
