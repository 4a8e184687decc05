//! A library for a subset of oxcall's features: the macros' output has to compile with each.

use oxcall::prelude::*;

/// `x`, in a namespace of its own.
#[custom_call(namespace = "plain")]
pub fn same(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

/// `-x`, under a stated schema.
#[cfg(any(feature = "torch", feature = "refused"))]
#[custom_call(schema = "plain::negative(Tensor x) -> Tensor")]
pub fn negate(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = -x);
}

/// `2 x`, also through API v1 to v3.
#[cfg(any(feature = "legacy", feature = "refused"))]
#[custom_call(legacy)]
pub fn twice(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = 2.0 * x);
}

#[cfg(any(feature = "habana", feature = "refused"))]
oxcall::habana::register_custom_op! {
    /// `x`, by the kernel `same`.
    pub Described {
        schema: "plain::described(Tensor self) -> Tensor",
        guid: "same",
        inputs: [Tensor],
        outputs: [DType::F32],
    }
}

#[cfg(any(feature = "testing", feature = "refused"))]
/// Calls [`same`] as a test does.
pub fn called() -> Result<oxcall::testing::Outputs> {
    oxcall::testing::call::<same>().arg([1f32, 2.0]).run()
}

#[cfg(any(feature = "cuda", feature = "refused"))]
oxcall::cuda::kernels! {
    /// A kernel of this library.
    mod kernels = cuda_c(r#"
        extern "C" __global__ void copy(const float* x, float* y, unsigned long long n) {
            const unsigned long long i = oxcall::index();
            if (i < n) y[i] = x[i];
        }
    "#);

    fn copy(x: *const f32, y: *mut f32, n: u64);
}

/// `x`.
#[custom_call]
pub fn copied(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

/// `x`, on a GPU.
#[cfg(feature = "cuda")]
#[custom_call(name = "copied", platform = "CUDA", command_buffer, initialize = kernels::load)]
pub fn copied_cuda(
    cuda: oxcall::cuda::Cuda,
    #[dims(..s)] x: DeviceArray<f32>,
    #[dims(..s)] mut y: DeviceOut<f32>,
) -> Result<()> {
    let n = x.len() as u64;
    // SAFETY: the kernel reads and writes `n` elements of each.
    unsafe { kernels::copy(oxcall::cuda::Launch::elements(&cuda, n)?, &x, &mut y, n) }
}

#[cfg(feature = "cuda")]
oxcall::cuda::kernels! {
    /// A kernel that was written in Rust.
    mod ptx_kernels = ptx(include_str!("../../../cuda/tests/cuda/scale.ptx"));

    fn scale(x: *const f32, y: *mut f32, n: u64, factor: f32);
}

/// `factor * x`.
#[cfg(feature = "cuda")]
#[custom_call]
pub fn scaled(#[attr] factor: f32, #[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = factor * x);
}

/// `factor * x`, on a GPU.
#[cfg(feature = "cuda")]
#[custom_call(name = "scaled", platform = "CUDA", command_buffer, initialize = ptx_kernels::load)]
pub fn scaled_cuda(
    cuda: oxcall::cuda::Cuda,
    #[attr] factor: f32,
    #[dims(..s)] x: DeviceArray<f32>,
    #[dims(..s)] mut y: DeviceOut<f32>,
) -> Result<()> {
    let n = x.len() as u64;
    // SAFETY: the kernel reads and writes `n` elements of each.
    unsafe { ptx_kernels::scale(oxcall::cuda::Launch::elements(&cuda, n)?, &x, &mut y, n, factor) }
}

/// `x^2 + shift`, with kernels where the feature `cuda` is on.
#[pointwise]
pub fn shifted_square<T: Real>(x: T, #[attr(default = 1.0)] shift: f64) -> T {
    x * x + shift
}
