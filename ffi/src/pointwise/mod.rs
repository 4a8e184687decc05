//! Functions of single elements, as operations over arrays: the support code of `#[pointwise]`.
//!
//! * [`Real`], [`Mask`], [`Scalar`], [`Dual`]: the numbers of such functions.
//! * `map`: such a function as a value, and its derivatives.
//! * `run`: the loop over arrays, on threads; `block`: that over a few elements, compiled for each set of vector
//!   instructions; `stored`: elements in memory and in computations.

pub(crate) mod block;
mod map;
mod run;
mod stored;

pub use map::{Map, jvp, vjp};
#[doc(inline)]
pub use oxcall_math::real::{Dual, Mask, Real, Scalar};
pub use run::run;
pub use stored::Stored;

#[cfg(test)]
mod tests;
