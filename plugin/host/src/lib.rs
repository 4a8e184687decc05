//! The CPU engine: from a verified [`oxcall_hlo::Module`] to a flat plan of kernels over planned buffers.
//!
//! * [`element`]: the Rust types that elements are stored as and computed in.
//! * [`kernel`]: what a step of a plan runs, with its operands and results as slices.
//! * [`pool`]: threads.

pub mod element;
pub mod kernel;
pub mod kernels;
pub mod pool;
