//! Operations that each have one fault, which `oxcall.testing` has to find, and some that only look faulty.

mod batches;
mod gradients;
mod kernels;
mod sound;

use oxcall::prelude::*;

/// Writes `f` of each element.
fn map(x: &Array<f64>, y: &mut Out<f64>, f: impl Fn(f64) -> f64) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = f(*x);
    }
}

/// Writes `f` of each pair of elements.
fn zip(x: &Array<f64>, other: &Array<f64>, y: &mut Out<f64>, f: impl Fn(f64, f64) -> f64) {
    for (y, (x, other)) in y.iter_mut().zip(x.iter().zip(other.iter())) {
        *y = f(*x, *other);
    }
}
