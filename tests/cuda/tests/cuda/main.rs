//! Kernels in Rust handlers, on a driver and an NVRTC made for tests ([`fake`]), which run CUDA C on the CPU, and,
//! where a wheel of it is there, by the real [`nvrtc`]: [`launches`], kernels of [`pointwise`] and of [`rowwise`]
//! functions, those of the [`gallery`], which they [`compare`] with handlers for the CPU, and those of a new
//! [`project`].

// Its operations are found in the registry.
use custom_ops as _;

mod child;
mod compare;
mod fake;
mod gallery;
mod launches;
mod nvrtc;
mod pointwise;
mod project;
mod rowwise;
