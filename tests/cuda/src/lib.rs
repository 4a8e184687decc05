//! CUDA kernels without a GPU: see the `tests` folder.

/// The guide's chapter.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/29-cuda.md")]
mod guide {}
