//! Operators by descriptor, whose kernel another crate has.

use oxcall::habana::{Stack, UserParams};
use oxcall::prelude::*;

oxcall::library! { ops: [crate, clashing_ops] }

oxcall::habana::register_custom_op! {
    /// `x + 1`, by the kernel `cos` of `clashing_ops`.
    pub Next {
        schema: "described::next(Tensor self) -> Tensor",
        guid: "cos",
        inputs: [Tensor],
        outputs: [DType::F32],
    }
}

/// Parameters of the kernel `weigh`.
#[derive(UserParams)]
struct Weights {
    weights: Vec<f64>,
    scale: f64,
    name: String,
}

oxcall::habana::register_custom_op! {
    /// The sum of the tensors, each times its weight and `scale`; `scale` is any number.
    pub Weigh {
        schema: "described::weigh(Tensor[] xs, float[] weights, Scalar scale, str name=\"weigh\", bool? halve=None) -> Tensor",
        guid: "weigh_f32",
        inputs: [Tensor, UserParams, UserParams, UserParams, UserParams],
        outputs: [DType::F32 => first_shape],
        user_params: weights,
    }
}

fn first_shape(stack: &Stack<'_>) -> Result<Vec<i64>> {
    let first = stack.tensors(0)?.first().ok_or_else(|| Error::invalid_argument("`xs` is empty"))?;
    Ok(first.dims.clone())
}

fn weights(stack: &Stack<'_>) -> Result<Weights> {
    let half = if !stack.is_none(4)? && stack.bool(4)? { 0.5 } else { 1.0 };
    Ok(Weights { weights: stack.floats(1)?.to_vec(), scale: half * stack.float(2)?, name: stack.str(3)?.to_owned() })
}

/// The kernel of `weigh`.
#[custom_call(name = "weigh_f32")]
fn weigh(
    #[attr] weights: &[f64],
    #[attr] scale: f64,
    #[attr] name: &str,
    xs: Variadic<Array<f32>>,
    mut y: Out<f32>,
) -> Result<()> {
    if weights.len() != xs.len() || xs.iter().any(|x| x.shape() != y.shape()) {
        return Err(Error::invalid_argument(format!("`{name}` needs a weight for each of its tensors, of one shape")));
    }
    y.fill(0.0);
    for (x, weight) in xs.iter().zip(weights) {
        y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y += (weight * scale) as f32 * x);
    }
    Ok(())
}
