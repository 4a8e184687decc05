//! libtorch: its functions, and the values that they exchange.

// Modules:
//
// * `shim`: the functions of the stable C interface, found by name.
// * `no_derivative`: derivatives that are errors.
// * `exception`: errors as C++ exceptions.
// * `ivalue`: values of a kernel's stack; `tensor`, `handles`: the owned ones among them.
// * `device`, `dtype`, `memory_format`: properties of tensors.

pub(super) mod device;
pub(super) mod dtype;
pub(super) mod exception;
pub(super) mod handles;
pub(super) mod ivalue;
pub(super) mod memory_format;
pub(super) mod no_derivative;
pub(super) mod shim;
pub(super) mod tensor;
