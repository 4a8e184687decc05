//! Two crates with the same operation in one library.

use oxcall::prelude::*;

oxcall::library! { ops: [clashing_ops, crate] }

/// `clashing_ops` has one of this name.
#[custom_call]
pub fn cos(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}
