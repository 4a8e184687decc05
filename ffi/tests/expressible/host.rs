//! Calls with memory and contexts of the test's own, where [`oxcall::testing`] does not reach.

use std::ffi::c_void;

use oxcall::descriptor::{Op, Stage};
use oxcall::host::{self, AttrValue, CallFrame, CallFrameBuilder, InvokeContext};
use oxcall::{Element, Result};

/// A frame in the making.
#[derive(Default)]
pub(crate) struct Frame(CallFrameBuilder);

impl Frame {
    pub(crate) fn arg<T: Element>(mut self, data: *const T, dims: &[i64]) -> Frame {
        self.0.arg(T::DTYPE, data.cast(), dims);
        self
    }

    pub(crate) fn ret<T: Element>(mut self, data: *mut T, dims: &[i64]) -> Frame {
        self.0.ret(T::DTYPE, data.cast::<c_void>(), dims);
        self
    }

    pub(crate) fn attr(mut self, name: &str, value: impl Into<AttrValue>) -> Frame {
        self.0.attr(name, value);
        self
    }

    pub(crate) fn build(self) -> CallFrame {
        self.0.build()
    }

    /// Executes `O`, and waits for its future.
    ///
    /// # Safety
    /// The memory is as large as dtypes and shapes say, and used by nobody else.
    pub(crate) unsafe fn execute<O: Op>(self, context: &InvokeContext) -> Result<()> {
        // SAFETY: passed on to the caller; the functions of a descriptor are handlers.
        let future = unsafe { host::call(O::HANDLER.execute, &mut self.build(), context, Stage::Execute) }?;
        future.map_or(Ok(()), |future| future.wait())
    }
}

/// A context without anything.
pub(crate) fn bare() -> InvokeContext {
    InvokeContext::builder().build()
}
