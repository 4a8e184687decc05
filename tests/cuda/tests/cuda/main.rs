//! Kernels in Rust handlers, on a driver and an NVRTC made for tests ([`fake`]), which run CUDA C on the CPU:
//! [`launches`], kernels of [`pointwise`] functions, and those of the [`gallery`].

// Its operations are found in the registry.
use custom_ops as _;

mod fake;
mod gallery;
mod launches;
mod pointwise;
