//! One operation name, twice.

use oxcall::prelude::*;

/// The one.
#[custom_call]
pub fn twice(x: Array<f32>, mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

/// The other.
#[custom_call(name = "twice")]
pub fn again(x: Array<f32>, mut y: Out<f32>) {
    y.copy_from_slice(&x);
}
