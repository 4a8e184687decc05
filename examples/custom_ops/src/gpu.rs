//! Operations of this gallery for GPUs of NVIDIA, under the names of those for the CPU: `rms_norm`, its gradient and
//! `softmax`, by kernels in CUDA C that NVRTC compiles where they run.
//!
//! The functions of single numbers have kernels too, which follow from `#[pointwise]`.

use oxcall::cuda::{Cuda, Launch, kernels};
use oxcall::prelude::*;

kernels! {
    /// Kernels of rows.
    mod rows = cuda_c(include_str!("rows.cu"));

    /// A block for each row.
    fn rms_norm<T: floats>(x: *const T, y: *mut T, n: u64, eps: f64);
    /// A block for each row.
    fn rms_norm_vjp<T: floats>(x: *const T, dy: *const T, dx: *mut T, n: u64, eps: f64);
    /// A block for each row.
    fn softmax<T: floats>(x: *const T, y: *mut T, n: u64);
}

/// A block for each row of `n` elements, with a thread for each 16 bytes or so.
fn blocks<'c>(cuda: &'c Cuda<'c>, elements: usize, n: usize) -> Result<Launch<'c>> {
    let threads = n.div_ceil(4).next_power_of_two().clamp(32, 1024);
    Launch::rows(cuda, elements.checked_div(n).unwrap_or(0) as u64, threads as u32)
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
    let n = x.shape().last().copied().unwrap_or(1);
    // SAFETY: the kernel reads and writes as many rows of `n` elements as there are blocks.
    unsafe { rows::rms_norm(blocks(&cuda, x.len(), n)?, &x, &mut y, n as u64, eps) }
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
    let n = x.shape().last().copied().unwrap_or(1);
    // SAFETY: as above.
    unsafe { rows::rms_norm_vjp(blocks(&cuda, x.len(), n)?, &x, &dy, &mut dx, n as u64, eps) }
}

/// Softmax over the rows of a matrix: `y = exp(x - max) / sum(exp(x - max))`, computed in f32.
#[custom_call(name = "softmax", platform = "CUDA", vmap = "sequential", command_buffer, initialize = rows::load)]
pub fn softmax_cuda(
    #[dims(rows, n)] x: DeviceArray<bf16>,
    #[dims(rows, n)] mut y: DeviceOut<bf16>,
    cuda: Cuda,
) -> Result<()> {
    let n = x.shape()[1];
    // SAFETY: as above.
    unsafe { self::rows::softmax(blocks(&cuda, x.len(), n)?, &x, &mut y, n as u64) }
}
