//! Tests that cross crates; see the `tests` folder. What several of them, and the benchmarks, need is here.

#[cfg(doctest)]
mod guide;
pub mod library;
