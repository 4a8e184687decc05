#![allow(unused)]

use oxcall::prelude::*;

#[rowwise]
fn differences(x: Row) -> Row {
    x[1] - x[0]
}

#[rowwise]
fn mapped(x: Row) -> Row {
    x.map(|x| x * 2.0)
}

#[rowwise]
fn looped(x: Row) -> PerRow {
    let mut sum = PerRow::from(0.0);
    for value in x {
        sum += value;
    }
    sum
}

#[rowwise]
fn branched(x: Row, #[attr] clip: bool) -> Row {
    // An attribute has a value when the function is recorded.
    let x = if clip { x.clamp(0.0, 1.0) } else { x };
    if x.max() > 1.0 { x / x.max() } else { x }
}

#[rowwise]
fn compared(x: Row) -> Row {
    let is_small = x < 1.0;
    x
}

#[rowwise]
fn chosen(x: Row) -> PerRow {
    let total = x.sum();
    if total > 1.0 { total } else { total * 2.0 }
}

fn main() {}
