//! The operations of a library as PyTorch operators.
//!
//! There is no C++ and no link to torch: its stable C interface is found by name in the process, so that one binary
//! serves torch 2.7 and later, and processes without torch. Each operation of a crate becomes an operator in the
//! crate's namespace when the library is loaded, or when [`register`] is called after torch has been imported.
//!
//! An argument is a tensor, a result is a new tensor, an `InOut` parameter is a tensor that is updated in place, and an
//! attribute is an argument of its own type. The guide has the whole table.

// Modules:
//
// * `operator`: an op as an operator; the kernels' C entry points.
// * `call`: a call, from the stack to the op's handler and back.
// * `libtorch`: libtorch's functions, found by name, and the values that they exchange.
// * `schema`: operator schemas: `derive` from a description, `parse` and `explicit` for stated ones, `limits` of older
//   torches.
// * `registration`, `dispatch_key`: registration of each op once; the outcome as JSON (`report`).
// * `promotion`: the common dtype of tensors.
// * `load`: registration as a library is loaded, or later.
// * `glue`: runs the Python files under `glue/`.

mod call;
mod dispatch_key;
mod glue;
mod libtorch;
mod load;
mod operator;
mod promotion;
mod registration;
pub(crate) mod schema;
#[cfg(test)]
mod tests;

pub(crate) use glue::program;
pub use libtorch::shim::RawKernel;
pub use load::{register, register_op};
pub use operator::{Described, TorchOp};
pub(crate) use registration::report;
pub(crate) use schema::wrong_schema;
