//! An operator whose kernel nobody has.

use oxcall::habana::CustomOpDescriptor;
use oxcall::prelude::*;

oxcall::habana::register_custom_op! {
    /// Its guid is misspelt.
    pub Negate = CustomOpDescriptor::new("misdescribed::negate(Tensor self) -> Tensor", "negate_f23")
        .inputs([oxcall::habana::InputType::Tensor])
        .output(0, DType::F32)
}

/// What the descriptor means.
#[custom_call(name = "negate_f32")]
pub fn negate(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = -x);
}
