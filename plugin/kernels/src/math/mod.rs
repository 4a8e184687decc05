//! The functions that element-wise ops apply to elements.
//!
//! * `integer`, `real`, `complex`, `select`, `convert`: the function of each op for each type, in Rust
//!   numbers, over the vector kernels of `oxcall-math`.
//! * `function`: such a function compiled for tiles and for scalars, for each [`level`] of vector instructions.
//! * [`generated`]: the same functions as operations of generated code, by `traced` lanes.
//! * `lower`: from an op and its element types to a few functions.
//!
//! Elements are computed in one of twelve types (see [`convert::wide`]). Narrow floats are computed as `f32` and
//! rounded after each op; integers narrower than a byte are computed in a byte and wrapped; booleans are bytes 0 and 1.

pub(crate) mod complex;
pub(crate) mod convert;
#[allow(unsafe_code, reason = "makes values of functions without state")]
pub(crate) mod function;
pub mod generated;
pub(crate) mod integer;
pub(crate) mod lower;
pub(crate) mod real;
pub(crate) mod select;
pub(crate) mod traced;

pub(crate) use oxcall_math::{bessel, double, elementary, lane, level, round, single, special};

pub use convert::wide;
pub(crate) use function::Function;
pub(crate) use lower::{Source, erfc_of_exp, lower, packed};
pub use lower::{has_functions, is_element_wise};

#[cfg(test)]
mod tests;
