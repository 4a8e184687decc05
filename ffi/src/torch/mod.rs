//! The operations of a library as PyTorch operators.
//!
//! There is no C++ and no link to torch: its stable C interface is found by name in the process, so that one binary
//! serves torch 2.7 and later, and processes without torch. Each operation of a crate becomes an operator in the
//! crate's namespace when the library is loaded, or when [`register`] is called after torch has been imported.
//!
//! An argument is a tensor, a result is a new one, an `InOut` parameter is a tensor that is updated in place, and an
//! attribute is an argument of its own type. The guide has the whole table.

// Modules:
//
// * `shim`: libtorch's functions, found by name.
// * `registration`, `entry`: registration of each op once; the kernels' C entry points.
// * `schema`: operator schemas: `derive` from a description, `parse` and `explicit` for stated ones, `limits` of older
//   torches.
// * `plan`: per-operator data, computed at registration.
// * `kernel`, `fast`: a call of any kind, and the usual kind without heap.
// * `taken`, `value`, `tensor`, `device`, `memory_format`, `dtype`: values that torch hands over.
// * `operand`, `attrs`, `outputs`, `context`: the operands, attributes, results and contexts of the call frame.
// * `error`: errors as C++ exceptions.
// * `no_derivative`: derivatives that are errors.
// * `report`: the outcome of registration, as JSON.
// * `glue`: runs the Python files under `glue/`.

mod attrs;
mod context;
mod device;
mod dtype;
mod entry;
mod error;
mod fast;
mod glue;
mod kernel;
mod memory_format;
mod no_derivative;
mod operand;
mod outputs;
mod plan;
mod registration;
mod report;
pub(crate) mod schema;
mod shim;
mod taken;
mod tensor;
#[cfg(test)]
mod tests;
mod value;

pub use entry::{Described, TorchOp};
pub(crate) use glue::program;
pub use registration::{register, register_op};
pub(crate) use report::report;
pub(crate) use schema::wrong_schema;
pub use shim::RawKernel;
