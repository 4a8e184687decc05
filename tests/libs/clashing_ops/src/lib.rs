//! Operations whose names others have too.

use oxcall::prelude::*;

/// Not the gallery's operation of this name.
#[custom_call]
pub fn rms_norm(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = -x;
    }
}

/// Not the operation of `test_ops`, nor the function of the C library.
#[custom_call]
pub fn cos(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = x + 1.0;
    }
}
