//! Functions of single elements: the support code of `#[pointwise]`. They are computed as functions of rows are
//! (`rowwise::elements`).
//!
//! * [`Real`], [`Mask`], [`Scalar`], [`Dual`]: the numbers of such functions.
//! * [`Ring`], [`Exact`]: numbers of functions that integers and complex numbers have too.
//! * `map`: such a function as a value, and its derivatives; [`Active`]: along which operands;
//!   `written`: derivatives that users write.
//! * `block`: the loop of an operation over a few elements, compiled for each set of vector instructions; `stored`:
//!   elements in memory and in computations; `pages`: huge pages for large results.

mod active;
pub(crate) mod block;
mod exact;
mod map;
pub(crate) mod pages;
mod stored;
mod written;

pub use active::Active;
pub use exact::Exact;
pub use map::{Map, RingMap, jvp, vjp};
#[doc(inline)]
pub use oxcall_math::real::{Dual, Mask, Real, Ring, Scalar};
pub use stored::Stored;
pub use written::{transposed, written};
