//! Kernels in Rust handlers, on a driver and an NVRTC made for tests ([`fake`]), which run CUDA C on the CPU:
//! [`launches`], kernels of [`pointwise`] functions, those of the [`gallery`] and of a new [`project`].

// Its operations are found in the registry.
use custom_ops as _;

mod fake;
mod gallery;
mod launches;
mod pointwise;
mod project;
