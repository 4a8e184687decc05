//! A gallery of custom calls, one small file for each family of operations.
//!
//! `cargo build --release` makes `libcustom_ops.so`. In Python, `ops = oxcall.load("target/release/libcustom_ops.so")`
//! registers everything below with JAX, and `ops.rms_norm(x, eps=1e-6)` is a JAX function like any other.
//!
//! | operations | what they show |
//! |---|---|
//! | [`rms_norm`](mod@norm), `rms_norm_vjp` | one target for all float dtypes, a default attribute, a gradient, threads, the legacy API |
//! | [`weighted_rms_norm`](mod@weighted_norm), `_vjp`, `_jvp` | both derivatives, a weight, a sum over the batch |
//! | [`counter`](mod@stateful), `low_pass` | a state that instantiation makes and executions share; an attribute in a shape |
//! | [`async_scale`](mod@asynchronous) | completion from another thread, a worker that is a state |
//! | [`affine`](mod@config), `polynomial` | attributes that are structs, enums, arrays, optional; attributes with any name |
//! | [`concatenate`](mod@concatenation) | any number of arguments, and a function for the result's shape |
//! | [`axpy`](mod@in_place), `compensated_add` | arguments that are updated in place |
//! | [`dequantize_int4`](mod@int4) | packed 4-bit integers, and a result whose dtype the caller chooses |
//! | [`softmax`](mod@soft) | ndarray views and threads |
//! | [`top_k`](mod@order) | two results of different dtypes, with a dimension that an attribute gives |
//! | [`csr_matmul`](mod@sparse), `tridiagonal_solve` | input that must be checked before it is trusted |
//! | [`custom_topk`](mod@habana), `custom_relu`, `custom_relu_backward`, `custom_adam` | operators by descriptor, in the style of Habana's custom op API |
//! | [`softplus`](mod@elementwise), `swiglu`, `huber`, `rope_pair`, `logit_normal_pdf` | functions of single numbers, with derivatives of first and second order |
//! | `multiply_add` | a function of integers and complex numbers too |
//! | [`softmax_cross_entropy`](mod@rows), `layer_norm`, `tempered_softmax` | functions of rows, with reductions and derivatives of first and second order |
//! | [`rms_norm`, `rms_norm_vjp`, `softmax` for GPUs](mod@gpu) | kernels in CUDA C; with the feature `cuda` |
//! | [`fail`](mod@failing), `panics` | errors with a status code, and panics |
//!
//! Each operation is an ordinary Rust function; its tests call it through a real call frame, without JAX. There is no
//! `unsafe` but for launches on GPUs: buffers are slices and views whose dtype, shape and overlap are checked before
//! the function runs.
//!
//! Loops over slices that are worth it are functions of their own with `#[multiversion(targets = "simd")]`: the
//! compiler makes one version for each set of vector instructions (on x86-64: SSE, AVX, AVX2, AVX-512), of which the
//! first call takes the best that the processor has.

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod asynchronous;
pub mod concatenation;
pub mod config;
pub mod elementwise;
pub mod failing;
#[cfg(feature = "cuda")]
#[allow(unsafe_code, reason = "a launch trusts the kernel with memory")]
pub mod gpu;
pub mod habana;
pub mod in_place;
pub mod int4;
pub mod norm;
pub mod order;
pub mod rows;
pub mod soft;
pub mod sparse;
pub mod stateful;
pub mod weighted_norm;

// In torch the operations are `torch.ops.custom_op.rms_norm` and so on.
oxcall::namespace!("custom_op");

/// How many rows are worth a hand-over to another thread: about 10 microseconds of work on elements that each take a
/// third of a nanosecond.
fn grain(width: usize) -> usize {
    (1 << 15) / width.max(1)
}

#[cfg(test)]
mod testing;
