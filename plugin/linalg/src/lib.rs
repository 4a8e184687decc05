//! The linear algebra that JAX lowers to custom calls on its CPU, as `#[custom_call]` functions over `faer`.
//!
//! [`targets`] has the handlers: the `lapack_*_ffi` names that jaxlib registers, with its attributes, column-major
//! operands and `info` codes, and the generic names of XLA. The algorithms are in [`dense`], each generic over the four
//! element types ([`scalar`]).
//!
//! [`row_major`] is for the engine's own ops; [`matrix`], `memory` and `workers` serve the algorithms.
#![forbid(unsafe_code)]

pub mod dense;
pub mod matrix;
mod memory;
pub mod row_major;
pub mod scalar;
pub mod targets;
mod workers;

// These are for programs of JAX; torch has linear algebra of its own.
oxcall::namespace!(none);
