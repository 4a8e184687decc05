//! The ops on GPUs of NVIDIA. NVRTC compiles the kernels when a program is first executed.

use oxcall::cuda::{Cuda, Launch, kernels};
use oxcall::prelude::*;

kernels! {
    /// Kernels of rows.
    mod rows = cuda_c(include_str!("kernels.cu"));

    /// A block for each row.
    fn log_softmax<T: floats>(x: *const T, y: *mut T, n: u64);
    /// A block for each row.
    fn log_softmax_vjp<T: floats>(y: *const T, dy: *const T, dx: *mut T, n: u64);
}

/// A block of threads for each row of `n` elements.
fn blocks<'c>(cuda: &'c Cuda<'c>, elements: usize, n: usize) -> Result<Launch<'c>> {
    let threads = n.next_power_of_two().clamp(32, 256);
    Launch::rows(
        cuda,
        elements.checked_div(n).unwrap_or(0) as u64,
        threads as u32,
    )
}

/// Logarithm of softmax over the last axis, on a GPU.
#[custom_call(
    name = "log_softmax",
    platform = "CUDA",
    T = floats,
    batch = b,
    vjp = super::log_softmax_vjp,
    command_buffer,
    initialize = rows::load
)]
fn log_softmax_cuda<T: Float>(
    #[dims(..b, n)] x: DeviceArray<T>,
    #[dims(..b, n)] mut y: DeviceOut<T>,
    cuda: Cuda,
) -> Result<()> {
    let n = x.shape().last().copied().unwrap_or(1);
    // SAFETY: each block reads and writes a row of `n` elements, and there are as many blocks as rows.
    unsafe { rows::log_softmax(blocks(&cuda, x.len(), n)?, &x, &mut y, n as u64) }
}

/// The gradient of `log_softmax`, on a GPU.
#[custom_call(
    name = "log_softmax_vjp",
    platform = "CUDA",
    T = floats,
    batch = b,
    command_buffer,
    initialize = rows::load
)]
fn log_softmax_vjp_cuda<T: Float>(
    #[dims(..b, n)] y: DeviceArray<T>,
    #[dims(..b, n)] dy: DeviceArray<T>,
    #[dims(..b, n)] mut dx: DeviceOut<T>,
    cuda: Cuda,
) -> Result<()> {
    let n = y.shape().last().copied().unwrap_or(1);
    // SAFETY: as above.
    unsafe { rows::log_softmax_vjp(blocks(&cuda, y.len(), n)?, &y, &dy, &mut dx, n as u64) }
}
