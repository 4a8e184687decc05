//! Operators in the style of Habana's custom op API: a descriptor says what an operator is, and a kernel, found by its
//! guid, computes it.
//!
//! A kernel is an ordinary custom call; its target name is the guid, and its attributes are the parameters that the
//! descriptor fills in. The operators `custom_topk`, `custom_relu` and `custom_relu_backward` are those of Habana's
//! examples; `custom_adam` shows several tensors in and out, described by one function.

use oxcall::habana::{CustomOpDescriptor, InputType, PartialOutputMetaData, Stack, UserCustomOpDescriptor, UserParams};
use oxcall::prelude::*;

use crate::order::Ordered;

/// Parameters of the kernel `topk`.
#[derive(UserParams)]
struct BeamParams {
    /// How many elements are kept.
    bsw: i64,
    /// The axis, counted from the last one.
    axis: i64,
    /// Whether the smallest elements are kept instead of the largest.
    #[attr(name = "bottomK")]
    bottom: bool,
}

oxcall::habana::register_custom_op! {
    /// The `k` largest (or smallest) elements along an axis in order, and their indices.
    pub CustomTopk = CustomOpDescriptor::new(
        "custom_op::custom_topk(Tensor self, int k, int axis, bool bottom) -> (Tensor, Tensor)",
        "topk",
    )
    .input(InputType::Tensor, 0)
    .input(InputType::UserParams, 1)
    .input(InputType::UserParams, 2)
    .input(InputType::UserParams, 3)
    .output_with_shape(0, DType::F32, topk_shape)
    .output_with_shape(1, DType::S64, topk_shape)
    .user_params(topk_params)
}

/// The shape of both outputs: that of the input, with `k` along the axis.
fn topk_shape(stack: &Stack<'_>) -> Result<Vec<i64>> {
    let mut shape = stack.tensor(0)?.dims.clone();
    let axis = axis(stack)?;
    let k = stack.int(1)?;
    if !(0..=shape[axis]).contains(&k) {
        return Err(Error::out_of_range(format!("`k` is {k}, but the axis has {} elements", shape[axis])));
    }
    shape[axis] = k;
    Ok(shape)
}

fn topk_params(stack: &Stack<'_>) -> Result<BeamParams> {
    let from_last = stack.tensor(0)?.rank() - 1 - axis(stack)?;
    Ok(BeamParams { bsw: stack.int(1)?, axis: from_last as i64, bottom: stack.bool(3)? })
}

/// The axis, counted from the first one.
fn axis(stack: &Stack<'_>) -> Result<usize> {
    let (rank, axis) = (stack.tensor(0)?.rank() as i64, stack.int(2)?);
    let from_first = if axis < 0 { axis + rank } else { axis };
    usize::try_from(from_first)
        .ok()
        .filter(|_| from_first < rank)
        .ok_or_else(|| Error::out_of_range(format!("`axis` is {axis}, but the tensor has rank {rank}")))
}

/// The kernel of `custom_topk`: the first `bsw` elements of each lane along `axis`, which is counted from the last one.
/// Of equal elements the one with the lowest index comes first; NaN is the largest.
///
/// # Errors
/// `INVALID_ARGUMENT` if `axis` or `bsw` is out of range for `x`, or the results have not the shape that they imply.
#[custom_call(T = [floats, ints])]
fn topk<T: Ordered>(
    #[attr] bsw: usize,
    #[attr] axis: usize,
    #[attr(name = "bottomK")] bottom: bool,
    x: Array<T>,
    mut values: Out<T>,
    mut indices: Out<i64>,
) -> Result<()> {
    let shape = x.shape().to_vec();
    let axis = shape.len().checked_sub(axis + 1).ok_or_else(|| {
        Error::invalid_argument(format!("attribute `axis` is {axis}, but the array has rank {}", shape.len()))
    })?;
    let mut kept = shape.clone();
    kept[axis] = bsw;
    if bsw > shape[axis] || values.shape() != kept || indices.shape() != kept {
        return Err(Error::invalid_argument(format!(
            "{bsw} elements along axis {axis} of shape {shape:?} do not make results of shapes {:?} and {:?}",
            values.shape(),
            indices.shape()
        )));
    }
    let (len, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let mut order: Vec<usize> = Vec::with_capacity(len);
    for outer in 0..shape[..axis].iter().product() {
        for lane in 0..inner {
            let element = |i: usize| x[(outer * len + i) * inner + lane];
            order.clear();
            order.extend(0..len);
            if bottom {
                order.sort_by_key(|&i| element(i).key());
            } else {
                order.sort_by_key(|&i| std::cmp::Reverse(element(i).key()));
            }
            for (rank, &i) in order[..bsw].iter().enumerate() {
                let at = (outer * bsw + rank) * inner + lane;
                (values[at], indices[at]) = (element(i), i as i64);
            }
        }
    }
    Ok(())
}

oxcall::habana::register_custom_op! {
    /// `max(x, 0)`.
    pub CustomRelu = CustomOpDescriptor::new("custom_op::custom_relu(Tensor self) -> Tensor", "custom_relu_fwd_f32")
        .input(InputType::Tensor, 0)
        .output(0, DType::F32)
}

oxcall::habana::register_custom_op! {
    /// The gradient of `custom_relu`: `grad` where `self` exceeds the threshold, 0 elsewhere.
    pub CustomReluBackward = CustomOpDescriptor::new(
        "custom_op::custom_relu_backward(Tensor grad, Tensor self, float threshold) -> Tensor",
        "custom_relu_bwd_f32",
    )
    .input(InputType::Tensor, 0)
    .input(InputType::Tensor, 1)
    .input(InputType::Scalar, 2)
    .output(0, DType::F32)
}

/// The kernel of `custom_relu`. NaN stays NaN.
#[custom_call(name = "custom_relu_fwd_f32")]
fn relu_forward(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    for (y, &x) in y.iter_mut().zip(x.iter()) {
        *y = if x < 0.0 { 0.0 } else { x };
    }
}

/// The kernel of `custom_relu_backward`, whose threshold is a number in device memory.
#[custom_call(name = "custom_relu_bwd_f32")]
fn relu_backward(
    #[dims(..s)] grad: Array<f32>,
    #[dims(..s)] x: Array<f32>,
    threshold: Scalar<f32>,
    #[dims(..s)] mut out: Out<f32>,
) {
    let threshold = *threshold;
    for ((out, &grad), &x) in out.iter_mut().zip(grad.iter()).zip(x.iter()) {
        *out = if x > threshold { grad } else { 0.0 };
    }
}

/// Parameters of the kernel `adam_f32`.
#[derive(UserParams)]
struct AdamParams {
    lr: f64,
    beta1: f64,
    beta2: f64,
    eps: f64,
    step: i64,
}

oxcall::habana::register_custom_op! {
    /// One step of Adam: the new parameter and both new moments.
    pub CustomAdam = UserCustomOpDescriptor::new(
        "custom_op::custom_adam(Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, int step, float lr=0.001, \
         float beta1=0.9, float beta2=0.999, float eps=1e-08) -> (Tensor, Tensor, Tensor)",
        "adam_f32",
        adam_outputs,
    )
    .fill_params(adam_params)
}

/// Three outputs like the first input.
fn adam_outputs(stack: &Stack<'_>) -> Result<Vec<PartialOutputMetaData>> {
    let param = stack.tensor(0)?;
    Ok(vec![PartialOutputMetaData { dtype: param.dtype, shape: param.dims.clone() }; 3])
}

fn adam_params(stack: &Stack<'_>) -> Result<AdamParams> {
    Ok(AdamParams {
        step: stack.int(4)?,
        lr: stack.float(5)?,
        beta1: stack.float(6)?,
        beta2: stack.float(7)?,
        eps: stack.float(8)?,
    })
}

/// The kernel of `custom_adam`: D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization", algorithm 1.
/// Steps count from 1.
///
/// # Errors
/// `OUT_OF_RANGE` if `step` is below 1.
#[custom_call(name = "adam_f32")]
#[allow(clippy::too_many_arguments, reason = "an optimizer has many")]
fn adam(
    #[attr] lr: f64,
    #[attr] beta1: f64,
    #[attr] beta2: f64,
    #[attr] eps: f64,
    #[attr] step: i32,
    #[dims(..s)] param: Array<f32>,
    #[dims(..s)] grad: Array<f32>,
    #[dims(..s)] exp_avg: Array<f32>,
    #[dims(..s)] exp_avg_sq: Array<f32>,
    #[dims(..s)] mut new_param: Out<f32>,
    #[dims(..s)] mut new_exp_avg: Out<f32>,
    #[dims(..s)] mut new_exp_avg_sq: Out<f32>,
) -> Result<()> {
    if step < 1 {
        return Err(Error::out_of_range(format!("`step` is {step}, but steps count from 1")));
    }
    let step_size = (lr / (1.0 - beta1.powi(step))) as f32;
    let correction = (1.0 - beta2.powi(step)).sqrt() as f32;
    // What is left of 1 is rounded once: after rounding a `beta` near 1, it would have lost most of its digits.
    let (new1, new2) = ((1.0 - beta1) as f32, (1.0 - beta2) as f32);
    let (beta1, beta2, eps) = (beta1 as f32, beta2 as f32, eps as f32);
    for i in 0..param.len() {
        let m = beta1 * exp_avg[i] + new1 * grad[i];
        let v = beta2 * exp_avg_sq[i] + new2 * grad[i] * grad[i];
        new_param[i] = param[i] - step_size * m / (v.sqrt() / correction + eps);
        (new_exp_avg[i], new_exp_avg_sq[i]) = (m, v);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::{ArrayD, Axis, array};
    use oxcall::registry::registry;
    use oxcall::testing::Call;

    use super::*;
    use crate::testing::numbers;

    fn op(name: &str) -> Call {
        Call::new(registry().find(name, "Host").unwrap())
    }

    /// Each lane sorted by itself.
    #[test]
    fn topk_sorts_each_lane() {
        let x = ArrayD::from_shape_vec(vec![3, 5, 4], numbers::<f32>(60)).unwrap();
        for axis in 0..3 {
            for (k, bottom) in [(0, false), (1, true), (3, false), (3, true)] {
                let call = op("custom_topk").arg(&x).attr("k", k).attr("axis", axis as i64 - 3).attr("bottom", bottom);
                let outputs = call.run().unwrap();
                let (values, indices) = (outputs.get::<f32>(0), outputs.get::<i64>(1));
                let lanes = values.lanes(Axis(axis)).into_iter().zip(indices.lanes(Axis(axis)));
                for (lane, (values, indices)) in x.lanes(Axis(axis)).into_iter().zip(lanes) {
                    let mut sorted: Vec<f32> = lane.to_vec();
                    sorted.sort_by(|a, b| if bottom { a.total_cmp(b) } else { b.total_cmp(a) });
                    assert_eq!(values.to_vec(), sorted[..k as usize]);
                    assert_eq!(indices.iter().map(|&i| lane[i as usize]).collect::<Vec<_>>(), sorted[..k as usize]);
                }
            }
        }
    }

    #[test]
    fn topk_refuses_what_is_out_of_range() {
        let call = |k: i64, axis: i64| {
            let call = op("custom_topk").arg(array![[1f32, 2.0]]).attr("k", k).attr("axis", axis).attr("bottom", false);
            call.run().unwrap_err()
        };
        assert_eq!((call(3, 1).code(), call(1, 2).code()), (Code::OutOfRange, Code::OutOfRange));
        assert_eq!(call(3, 1).message(), "custom_topk: `k` is 3, but the axis has 2 elements");
    }

    #[test]
    fn relu_and_its_gradient() {
        let x = array![-1f32, 0.0, 2.0, f32::NAN];
        let outputs = op("custom_relu").arg(&x).run().unwrap();
        assert_eq!(outputs.get::<f32>(0).as_slice().unwrap()[..3], [0.0, 0.0, 2.0]);
        assert!(outputs.get::<f32>(0)[[3]].is_nan());
        let backward = op("custom_relu_backward").arg(array![5f32, 6.0, 7.0, 8.0]).arg(&x).attr("threshold", 0.0);
        assert_eq!(backward.run().unwrap().get::<f32>(0).as_slice().unwrap(), [0.0, 0.0, 7.0, 0.0]);
    }

    /// The first step moves each parameter by the learning rate against its gradient's sign.
    #[test]
    fn adam_takes_a_step() {
        let zeros = || array![0f32, 0.0];
        let step = |step: i64| {
            op("custom_adam")
                .arg(array![1f32, -1.0])
                .arg(array![4f32, -0.25])
                .arg(zeros())
                .arg(zeros())
                .attr("step", step)
        };
        let outputs = step(1).attr("lr", 0.5).run().unwrap();
        let param = outputs.get::<f32>(0);
        assert!((param[[0]] - 0.5).abs() < 1e-6 && (param[[1]] + 0.5).abs() < 1e-6, "{param}");
        assert_eq!(
            step(0).run().unwrap_err().message(),
            "custom_adam: kernel `adam_f32`: `step` is 0, but steps count from 1"
        );
    }
}
