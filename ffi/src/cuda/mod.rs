//! CUDA kernels in handlers for `platform = "CUDA"`: the feature `cuda`.
//!
//! A crate with this feature builds without a CUDA toolkit, links to no library of CUDA, and loads where there is no
//! GPU: the driver is looked up by the first call of a handler that needs it, NVRTC by the first module in CUDA C.
//!
//! * [`Cuda`]: the device of a call, with its primary context made current, and the stream.
//! * [`kernels!`](crate::cuda_kernels): a module of kernels, in PTX or CUDA C, with the types of their parameters.
//! * [`Launch`]: the grid of a launch, from the shape of the work.
//!
//! ```
//! use oxcall::cuda::{Cuda, Launch, kernels};
//! use oxcall::prelude::*;
//!
//! kernels! {
//!     /// Kernels of this file.
//!     mod scaling = cuda_c(r#"
//!         extern "C" __global__ void scale(const float* x, float* y, unsigned long long n, float factor) {
//!             const unsigned long long i = oxcall::index();
//!             if (i < n) y[i] = factor * x[i];
//!         }
//!     "#);
//!
//!     /// `y = factor * x`, a thread for each element.
//!     fn scale(x: *const f32, y: *mut f32, n: u64, factor: f32);
//! }
//!
//! /// `factor * x`.
//! #[custom_call(platform = "CUDA", command_buffer, initialize = scaling::load)]
//! fn scale(
//!     cuda: Cuda,
//!     #[attr] factor: f32,
//!     #[dims(..s)] x: DeviceArray<f32>,
//!     #[dims(..s)] mut y: DeviceOut<f32>,
//! ) -> Result<()> {
//!     let n = x.len() as u64;
//!     // SAFETY: the kernel reads and writes `n` elements of each.
//!     unsafe { scaling::scale(Launch::elements(&cuda, n)?, &x, &mut y, n, factor) }
//! }
//! ```

mod argument;
mod context;
mod device;
mod driver;
mod kernels;
mod known;
mod launch;
mod module;
mod nvrtc;
#[doc(hidden)]
pub mod pointwise;
mod print;
mod recorded;
#[doc(hidden)]
pub mod rowwise;

pub use argument::{Argument, PassAs};
pub use context::Cuda;
pub use cudarc;
pub use device::CudaDevice;
pub use launch::Launch;
pub use module::{KernelDecl, Loaded, Module, Source};

#[doc(inline)]
pub use crate::cuda_kernels as kernels;
