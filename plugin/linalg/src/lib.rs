//! The linear algebra that JAX lowers to custom calls on its CPU, as `#[custom_call]` functions over `faer`.
#![forbid(unsafe_code)]
