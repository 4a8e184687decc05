//! Functions of real numbers, written once without branches, so that loops of them become vector code for each set of
//! instructions.
//!
//! The crate is shared by the engine of the plugin and by the SDK, and is not a public interface.
//!
//! # Modules
//!
//! * [`mod@elementary`]: kernels of `f32` and `f64`, with the constants of [`double`]; [`single`]: those of `f32`
//!   alone, and its constants.
//! * [`special`] and [`bessel`]: rare functions.
//! * [`lane`]: the elements that these functions compute with; [`pair`]: several of them at a time.
//! * [`level`]: sets of vector instructions, one of which is chosen at run time.
//! * [`real`]: real numbers as pointwise functions see them, with their derivatives.
//! * [`round`]: rounding of floats to narrower formats.

#![deny(unsafe_code)]

pub mod bessel;
pub mod double;
pub mod elementary;
pub mod lane;
pub mod level;
pub mod pair;
pub mod real;
pub mod round;
pub mod single;
pub mod special;

#[cfg(test)]
mod tests;
