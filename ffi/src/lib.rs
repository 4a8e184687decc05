#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(all(feature = "torch", feature = "habana", feature = "legacy", feature = "testing")),
    allow(dead_code, unused_imports, reason = "used by features that are off")
)]

// Modules:
//
// * `element`: elements of buffers; their Rust types and `DType` are those of the crate `oxcall-element`.
// * `buffer`: checked buffer descriptions (`raw`), and the parameter types made from them.
// * `attr`: attributes: the wire form (`raw`), conversions, dictionaries, support for the derives.
// * `pointwise`: functions of single elements as ops: `#[pointwise]`; `rowwise`: those of rows, `#[rowwise]`.
// * `shape`: `#[dims]` patterns: binding, checking, inferring; `ShapeContext` for shape functions.
// * `context`: what a handler may ask of its host; futures (`task`) and scoped loops (`pool`).
// * `state`: types of states, and their registration with each host.
// * `error`, `panics`: status codes and messages; panics as errors.
// * `api`: calls into the host's table; all knowledge of versions on the handler's side.
// * `flags`: checks of several conditions by one branch.
// * `frame`, `entry`: call frames as handlers read them; from the C entry point to the generated code and back.
// * `metadata`: queries of hosts that register a handler.
// * `explain`, `diagnose`: errors of decoding, made out of line; those for which the frame is read again.
// * `cuda`: kernels on GPUs of NVIDIA.
// * `descriptor`: static descriptions of ops.
// * `sync`: locks that panics do not poison.
// * `registry`, `manifest`, `exports`: all ops of a library; the same as JSON; the C symbols.
// * `rules`: the check that the ops that `vjp`, `jvp`, `fwd`, `transpose` and `vmap` name fit, which the compiler runs.
// * `legacy`: API v1 to v3.
// * `habana`: operators by descriptor.
// * `host`: the host's side of the interface.
// * `testing`: calls of ops in plain tests, by `host`.
// * `torch`: ops as PyTorch operators.
// * `loaded`: symbols of libraries that the process has loaded.
// * `namespace`: the namespaces of crates and ops.
// * `private`, `features`: everything that the macros' output refers to, as `__private`; its parts that depend on
//   features.
// * `without_torch`: the answers of a library without the feature `torch`.

mod api;
pub mod attr;
pub mod buffer;
pub mod context;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod descriptor;
mod diagnose;
pub mod element;
mod entry;
mod error;
mod explain;
mod exports;
mod expression;
mod features;
mod flags;
mod frame;
#[cfg(feature = "habana")]
pub mod habana;
pub mod host;
#[cfg(feature = "legacy")]
pub mod legacy;
#[cfg(any(feature = "torch", feature = "cuda"))]
mod loaded;
mod manifest;
mod metadata;
mod names;
mod namespace;
mod panics;
pub mod pointwise;
pub mod prelude;
pub mod registry;
pub mod rowwise;
mod rules;
pub mod shape;
mod state;
#[doc(hidden)]
pub mod sync;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "torch")]
pub mod torch;
#[cfg(not(feature = "torch"))]
mod without_torch;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use element::Element;
pub use error::{Code, Error, Result};
pub use half;
pub use ndarray;
pub use num_complex;
#[doc(inline)]
pub use oxcall_element::DType;
pub use oxcall_macros::{AttrEnum, AttrStruct, custom_call, library, pointwise, rowwise, stage};
pub use state::State;
