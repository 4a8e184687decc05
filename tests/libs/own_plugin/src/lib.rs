//! A plugin with an op of its own, and the engine of `oxcall-plugin`.

use oxcall::prelude::*;

oxcall_plugin::plugin! { name: "my_device", ops: [crate] }

/// `2 x`.
#[custom_call(legacy)]
pub fn twice(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = 2.0 * x);
}
