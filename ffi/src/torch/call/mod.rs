//! Calls by torch as calls of the operation.
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

/// What the calls of one operator need.
#[repr(C)]
pub(crate) struct Kernel {
    /// First, as most calls look at nothing else; `None` if the operator has only unusual ones.
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
    /// Called by torch: the stack has the arguments of the operator that this is for, and room for its results.
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
        // SAFETY: as the caller guarantees; the stack is as it was.
        unsafe { slow_path::call(&self.plan, stack, Call::run) }
    }

    /// The body of the kernels for tensors without data, which is about shapes and dtypes alone.
    ///
    /// # Safety
    /// As for [`run`](Kernel::run).
    pub(super) unsafe fn infer(&self, stack: *mut u64) {
        // SAFETY: as the caller guarantees.
        unsafe { slow_path::call(&self.plan, stack, Call::infer) }
    }
}
