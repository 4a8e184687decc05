//! An operation as a torch operator, and the kernels' C entry points.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::call::Kernel;
use super::libtorch::exception::throw;
use super::libtorch::shim::{RawKernel, Shim};
use crate::descriptor::{Handler, RawHandler};
use crate::entry::Execute;

/// The largest number of overloads of an operation: one for integers and one for floats.
pub(crate) const OVERLOADS: usize = 2;

/// An operation as a torch operator.
pub struct TorchOp {
    /// Whether results have the memory format of the first argument, instead of being row-major.
    pub(crate) keeps_memory_format: bool,
    /// The function that executes a call, once the operation has given the shapes of the results; the handler if
    /// `None`.
    pub(crate) execute: Option<RawHandler>,
    /// The kernels of the overloads.
    pub(crate) kernels: [RawKernel; OVERLOADS],
    /// Their kernels for tensors without data.
    pub(crate) meta_kernels: [RawKernel; OVERLOADS],
    /// The data for their calls, set at registration.
    pub(crate) calls: [OnceLock<Box<Kernel>>; OVERLOADS],
}

/// Gives a kernel, which gets nothing but the stack, its operation.
pub trait Described: 'static {
    /// The operation.
    fn handler() -> Option<&'static Handler>;
}

/// The operation that `#[custom_call]` made.
struct Of<E>(PhantomData<E>);

impl<E: Execute + 'static> Described for Of<E> {
    #[inline]
    fn handler() -> Option<&'static Handler> {
        Some(E::HANDLER)
    }
}

impl TorchOp {
    /// The operator of an operation that `#[custom_call]` made.
    pub const fn of<E: Execute + 'static>() -> TorchOp {
        TorchOp::new::<Of<E>>()
    }

    /// The operator of an operation.
    pub const fn new<D: Described>() -> TorchOp {
        TorchOp {
            keeps_memory_format: false,
            execute: None,
            kernels: [call::<D, 0>, call::<D, 1>],
            meta_kernels: [infer::<D, 0>, infer::<D, 1>],
            calls: [const { OnceLock::new() }; OVERLOADS],
        }
    }

    /// The same operator, with results in the memory format of the first argument.
    pub(crate) fn keeping_memory_format(self) -> TorchOp {
        TorchOp { keeps_memory_format: true, ..self }
    }

    /// The same operator, with calls executed by another function than the handler.
    pub(crate) fn executing(self, execute: RawHandler) -> TorchOp {
        TorchOp { execute: Some(execute), ..self }
    }
}

impl fmt::Debug for TorchOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TorchOp").finish_non_exhaustive()
    }
}

/// The kernel of one overload of an operation, which torch calls once it is registered.
///
/// # Safety
/// As for [`Kernel::run`].
unsafe extern "C-unwind" fn call<D: Described, const OVERLOAD: usize>(stack: *mut u64, _args: u64, _results: u64) {
    match kernel::<D>(OVERLOAD) {
        // SAFETY: as the caller guarantees.
        Some(kernel) => unsafe { kernel.run(stack) },
        None => unregistered(),
    }
}

/// The same for tensors without data, which only concerns shapes and dtypes.
///
/// # Safety
/// As for [`Kernel::run`].
unsafe extern "C-unwind" fn infer<D: Described, const OVERLOAD: usize>(stack: *mut u64, _args: u64, _results: u64) {
    match kernel::<D>(OVERLOAD) {
        // SAFETY: as the caller guarantees.
        Some(kernel) => unsafe { kernel.infer(stack) },
        None => unregistered(),
    }
}

#[inline]
fn kernel<D: Described>(overload: usize) -> Option<&'static Kernel> {
    D::handler()?.torch?.calls[overload].get().map(Box::as_ref)
}

/// A kernel is registered only after its data is made.
#[cold]
fn unregistered() {
    if let Ok(shim) = Shim::get() {
        throw(shim, crate::Error::internal("an operator was called before it was registered"));
    }
}
