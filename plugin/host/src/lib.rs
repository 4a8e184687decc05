//! The CPU engine: from a verified [`oxcall_hlo::Module`] to a flat plan of kernels over planned buffers.
//!
//! * [`element`]: the Rust types that elements are stored as and computed in.
//! * [`passes`]: from programs as they are written to programs as they are run.
//! * [`kernel`]: what a step of a plan runs, with its operands and results as slices.
//! * [`pool`]: the threads of a client.
//! * [`math`]: the functions of elements.
//! * [`scalar`]: register programs over single elements.
//! * [`tile`]: fused element-wise programs.

pub mod element;
pub mod kernel;
pub mod kernels;
pub mod math;
pub mod passes;
pub mod pool;
pub mod scalar;
pub mod tile;
