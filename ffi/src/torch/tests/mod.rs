//! Schemas and kernels, with a libtorch made of Rust functions.

mod calls;
mod double;
mod schemas;
