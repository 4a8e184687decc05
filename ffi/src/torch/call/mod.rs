//! Translation of torch's calls to calls of the operation.
//!
//! A kernel gets a stack of values. Usual calls take the fast path, all others the slow one; both build a call frame
//! and call the op's handler.

// Modules:
//
// * `plan`: per-operator data, computed at registration.
// * `fast_path`: row-major tensors and numbers, without heap.
// * `slow_path`: calls of every kind.
// * `buffer`, `attrs`: the operands and attributes of a call frame.
// * `context`: the contexts and states of an operator.

mod attrs;
mod buffer;
mod context;
mod fast_path;
pub(crate) mod plan;
mod slow_path;

use fast_path::FastPath;
use plan::Plan;
use slow_path::Call;

use super::libtorch::exception::throw;

/// The data for the calls of one operator.
#[repr(C)]
pub(crate) struct Kernel {
    /// First, because most calls need nothing else; `None` if all calls of the operator are unusual.
    fast_path: Option<FastPath>,
    plan: Plan,
}

impl Kernel {
    pub(crate) fn new(plan: Plan) -> Kernel {
        Kernel { fast_path: FastPath::new(&plan), plan }
    }

    /// The body of the kernels that call the operation.
    ///
    /// # Safety
    /// torch calls it: the stack has the arguments of this value's operator, and room for its results.
    #[inline]
    pub(super) unsafe fn run(&self, stack: *mut u64) {
        if let Some(fast_path) = &self.fast_path {
            // SAFETY: as the caller guarantees.
            match unsafe { fast_path.call(stack) } {
                Some(Ok(())) => return,
                Some(Err(error)) => return throw(self.plan.shim, self.plan.named(error)),
                None => {}
            }
        }
        // SAFETY: as the caller guarantees; the stack is unchanged.
        unsafe { slow_path::call(&self.plan, stack, Call::run) }
    }

    /// The body of the kernels for tensors without data, which only concern shapes and dtypes.
    ///
    /// # Safety
    /// As for [`run`](Kernel::run).
    pub(super) unsafe fn infer(&self, stack: *mut u64) {
        // SAFETY: as the caller guarantees.
        unsafe { slow_path::call(&self.plan, stack, Call::infer) }
    }
}
