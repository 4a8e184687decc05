//! Row-wise functions of every form, under names that the expansion uses itself.

#![forbid(unsafe_code)]

use oxcall::AttrEnum;
use oxcall::prelude::*;

#[derive(AttrEnum, Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Its attributes: an integer, an enum, one that may be absent, text, and names of derivatives and dimensions.
#[rowwise(name = "every_form", derivatives = 1)]
fn forms(
    #[attr] n: i32,
    x: Row,
    #[attr(default = Side::Left)] side: Side,
    plan: PerRow,
    #[attr] batch: Option<f64>,
    #[attr(name = "d")] dx: f64,
    #[attr] pool: bool,
    #[attr] operands: &str,
    y: oxcall::rowwise::Row,
) -> (Row, PerRow) {
    let z = match side {
        Side::Left => x,
        Side::Right => y,
    };
    let scale = if operands == "all" { plan } else { plan * dx };
    if pool { (z.powi(n), scale) } else { (z * batch.unwrap_or(1.0), x.sum()) }
}

/// A result by itself, in a tuple, and an operand whose name is that of a cotangent.
#[rowwise(derivatives = 2)]
pub fn named(x: Row, dx: Row) -> (PerRow,) {
    ((x * dx).sum(),)
}

/// A function of single numbers, used for all elements of a row.
#[inline]
fn swish<T: Real>(x: T) -> T {
    x * x.logistic()
}

#[rowwise(derivatives = 0)]
fn helped(r#type: Row) -> Row {
    2.0 * swish(r#type) - swish(r#type.mean())
}

fn main() {}
