//! Operations of this gallery for GPUs of NVIDIA, under the names of those for the CPU: `rms_norm`, its gradient and
//! `softmax`, by kernels in CUDA C that NVRTC compiles where they run.
//!
//! The functions of single numbers have kernels too, which follow from `#[pointwise]`.

use oxcall::cuda::{Cuda, Launch, kernels};
use oxcall::prelude::*;

kernels! {
    /// Kernels of rows.
    mod rows = cuda_c(include_str!("rows.cu"));

    fn rms_norm<T: floats>(x: *const T, y: *mut T, rows: u64, n: u64, eps: f64);
    fn rms_norm_vjp<T: floats>(x: *const T, dy: *const T, dx: *mut T, rows: u64, n: u64, eps: f64);
    fn softmax<T: floats>(x: *const T, y: *mut T, rows: u64, n: u64);
}

/// The launch of a kernel of rows, their number, and the elements of each.
fn over_rows<'c, T: Element>(cuda: &'c Cuda<'c>, x: &DeviceArray<T>) -> Result<(Launch<'c>, u64, u64)> {
    let n = x.shape().last().copied().unwrap_or(1);
    let rows = x.len().checked_div(n).unwrap_or(0) as u64;
    Ok((Launch::rows_of(cuda, rows, n * size_of::<T>())?, rows, n as u64))
}

/// Root-mean-square norm over the last axis: `y = x / sqrt(mean(x * x) + eps)`.
#[custom_call(
    name = "rms_norm",
    platform = "CUDA",
    T = floats,
    batch = b,
    vjp = crate::norm::rms_norm_vjp,
    command_buffer,
    initialize = rows::load
)]
pub fn rms_norm_cuda<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: DeviceArray<T>,
    #[dims(..b, n)] mut y: DeviceOut<T>,
    cuda: Cuda,
) -> Result<()> {
    let (launch, rows, n) = over_rows(&cuda, &x)?;
    // SAFETY: the kernel reads and writes so many rows of `n` elements.
    unsafe { self::rows::rms_norm(launch, &x, &mut y, rows, n, eps) }
}

/// The gradient of [`rms_norm`](fn@crate::norm::rms_norm): `dx` from the input `x` and the cotangent `dy` of its
/// result.
#[custom_call(
    name = "rms_norm_vjp",
    platform = "CUDA",
    T = floats,
    batch = b,
    command_buffer,
    initialize = rows::load
)]
pub fn rms_norm_vjp_cuda<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: DeviceArray<T>,
    #[dims(..b, n)] dy: DeviceArray<T>,
    #[dims(..b, n)] mut dx: DeviceOut<T>,
    cuda: Cuda,
) -> Result<()> {
    let (launch, rows, n) = over_rows(&cuda, &x)?;
    // SAFETY: as above.
    unsafe { self::rows::rms_norm_vjp(launch, &x, &dy, &mut dx, rows, n, eps) }
}

/// Softmax over the rows of a matrix: `y = exp(x - max) / sum(exp(x - max))`, computed in f32.
#[custom_call(name = "softmax", platform = "CUDA", vmap = "sequential", command_buffer, initialize = rows::load)]
pub fn softmax_cuda(
    #[dims(rows, n)] x: DeviceArray<bf16>,
    #[dims(rows, n)] mut y: DeviceOut<bf16>,
    cuda: Cuda,
) -> Result<()> {
    let (launch, rows, n) = over_rows(&cuda, &x)?;
    // SAFETY: as above.
    unsafe { self::rows::softmax(launch, &x, &mut y, rows, n) }
}
