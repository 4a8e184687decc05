//! The functions that element-wise ops apply to elements.
//!
//! * [`integer`], [`real`], [`complex`], [`select`], [`convert`]: what each op is for each type, in Rust numbers.
//! * [`mod@elementary`]: vector kernels of `f32` and `f64`, with the constants of `double`; [`single`]: those of `f32`
//!   alone, and its constants; [`special`] and [`bessel`]: rare functions.
//! * [`function`]: such a function compiled for tiles and for scalars, for each [`level`] of vector instructions.
//! * [`lower`](mod@lower): from an op and its element types to a few functions.
//!
//! Elements are computed in one of twelve types (see [`convert::wide`]). Narrow floats are computed as `f32` and
//! rounded after each op; integers narrower than a byte are computed in a byte and wrapped; booleans are bytes 0 and 1.

pub mod bessel;
pub mod complex;
pub mod convert;
mod double;
pub mod elementary;
pub mod function;
pub mod integer;
pub mod level;
pub mod lower;
pub mod real;
pub mod round;
pub mod select;
pub mod single;
pub mod special;

pub use convert::wide;
pub use function::Function;
pub use lower::{Source, Step, Steps, is_element_wise, lower, packed};

#[cfg(test)]
mod tests;
