//! Functions of rows, as operations over arrays: the support code of `#[rowwise]`.
//!
//! * `value`: what such a function computes with, [`Row`] and [`PerRow`], which record a program.
//! * `program`: such programs; `ops`: their operations of single elements, with the kernels of `functions`; `derive`:
//!   their derivatives.
//! * `transpose`: reverse mode of functions of single elements.
//! * `simplify`: programs with fewer operations, for the same results; `parts`: functions that share an exponential.
//! * `plan`: the order in which a program is computed, in as few passes over a row as its reductions allow.
//! * `run`: the loop over the rows of arrays, on threads; `reduce`: reductions of a row; `ahead`: memory that is
//!   fetched before it is computed with.
//! * [`elements`]: functions of single elements.

mod ahead;
mod derive;
#[doc(hidden)]
pub mod elements;
mod functions;
mod ops;
mod parts;
mod plan;
mod program;
mod reduce;
mod run;
mod simplify;
mod transpose;
mod value;

#[doc(hidden)]
pub use derive::Rule;
#[doc(hidden)]
pub use plan::Plan;
#[doc(hidden)]
pub use program::Kind;
#[doc(hidden)]
pub use run::{Element, run};
#[doc(hidden)]
pub use value::{Operand, Value, result};
pub use value::{PerRow, PerRowMask, Row, RowMask};

#[cfg(test)]
mod tests;
