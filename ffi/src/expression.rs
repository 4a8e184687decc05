//! Expressions of pointwise operations, between libraries and hosts.
//!
//! A host calls the operation on empty arrays, with an [`ExpressionReceiver`] among the extensions of its context; the
//! operation [offers](offer) its expression. Only operations that say so in their metadata
//! ([`PointwiseQuery`](crate::metadata::PointwiseQuery)) are called like this.

use std::ffi::c_void;
use std::sync::Arc;
use std::{ptr, slice};

use oxcall_math::real::{Expression, Operation};
use xla_ffi_sys::xla_ffi as sys;

use crate::context::Context;
use crate::sync::Mutex;

/// The type of the extension, far from XLA's own.
const EXTENSION: i64 = 0x6f78_0002;
/// A receiver with another major version has another layout.
const MAJOR: i32 = 1;

/// A host's extension: a function that receives an expression.
#[repr(C)]
struct RawReceiver {
    base: sys::XLA_FFI_Extension,
    /// Passed on to the function.
    sink: *mut c_void,
    receive: unsafe extern "C" fn(sink: *mut c_void, expression: *const RawExpression),
}

/// An [`Expression`] during a call of [`RawReceiver::receive`].
#[repr(C)]
struct RawExpression {
    struct_size: usize,
    /// The size of an operation, which may grow at its end.
    operation_size: usize,
    num_operands: usize,
    num_operations: usize,
    operations: *const Operation,
    num_results: usize,
    results: *const u32,
}

/// Gives the host the expression, if it wants one and there is one.
pub(crate) fn offer(context: &Context<'_>, expression: impl FnOnce() -> Option<Expression>) {
    let Ok(extension) = context.extension(EXTENSION) else { return };
    if extension.version().0 != MAJOR || extension.struct_size() < size_of::<RawReceiver>() {
        return;
    }
    let Some(expression) = expression() else { return };
    let (operations, results) = (expression.operations(), expression.results());
    let raw = RawExpression {
        struct_size: size_of::<RawExpression>(),
        operation_size: size_of::<Operation>(),
        num_operands: expression.operands(),
        num_operations: operations.len(),
        operations: operations.as_ptr(),
        num_results: results.len(),
        results: results.as_ptr(),
    };
    let receiver = extension.as_ptr().cast::<RawReceiver>();
    // SAFETY: the extension has this type, version and size; the expression lives until the function returns.
    unsafe { ((*receiver).receive)((*receiver).sink, &raw) };
}

/// A host's side: the extension for the contexts of one call.
pub(crate) struct ExpressionReceiver {
    raw: RawReceiver,
    received: Arc<Mutex<Option<Expression>>>,
}

impl ExpressionReceiver {
    pub(crate) fn new() -> ExpressionReceiver {
        let received = Arc::new(Mutex::new(None));
        let base = sys::XLA_FFI_Extension {
            struct_size: size_of::<RawReceiver>(),
            id: sys::XLA_FFI_ExtensionId { extension_type: EXTENSION, major_version: MAJOR, minor_version: 0 },
            next: ptr::null(),
        };
        let sink = Arc::as_ptr(&received).cast_mut().cast();
        ExpressionReceiver { raw: RawReceiver { base, sink, receive }, received }
    }

    /// The extension, which lives as long as this.
    pub(crate) fn as_ptr(&self) -> *const sys::XLA_FFI_Extension {
        ptr::from_ref(&self.raw).cast()
    }

    /// What was received, if it is an expression.
    pub(crate) fn received(self) -> Option<Expression> {
        self.received.lock().take()
    }
}

/// # Safety
/// `sink` is that of a live [`ExpressionReceiver`], `expression` a live expression as large as it says.
unsafe extern "C" fn receive(sink: *mut c_void, expression: *const RawExpression) {
    // SAFETY: as the caller guarantees.
    let received = unsafe { &*sink.cast::<Mutex<Option<Expression>>>() };
    // SAFETY: as the caller guarantees.
    *received.lock() = unsafe { read(expression) };
}

/// # Safety
/// A live expression as large as it says.
unsafe fn read(raw: *const RawExpression) -> Option<Expression> {
    // SAFETY: structs start with their size, and the rest is there if the size says so.
    let raw = unsafe { ((*raw).struct_size >= size_of::<RawExpression>()).then(|| raw.read()) }?;
    if raw.operation_size < size_of::<Operation>() {
        return None;
    }
    let operation = |index: usize| {
        // SAFETY: the list has so many operations of this size, each of which begins as ours do.
        unsafe { raw.operations.byte_add(index * raw.operation_size).read_unaligned() }
    };
    let operations = (0..raw.num_operations).map(operation).collect();
    let results = match raw.num_results {
        0 => Vec::new(),
        // SAFETY: the list has so many results.
        count => unsafe { slice::from_raw_parts(raw.results, count) }.to_vec(),
    };
    Expression::new(raw.num_operands, operations, results)
}

#[cfg(test)]
mod tests {
    use oxcall_math::real::Opcode;

    use super::*;

    /// The sizes that docs/c-boundary.md states.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn layouts_have_the_sizes_of_the_page() {
        assert_eq!([size_of::<RawReceiver>(), size_of::<RawExpression>(), size_of::<Operation>()], [48, 56, 24]);
    }

    /// An operation of a later version.
    #[repr(C)]
    struct Longer {
        operation: Operation,
        more: u64,
    }

    #[test]
    fn later_layouts_are_read_and_shorter_ones_refused() {
        let operation = |opcode: Opcode, args| Operation { opcode: opcode as u32, args, constant: 0.0 };
        let operations = [operation(Opcode::Add, [0, 0, 0]), operation(Opcode::Exp, [1, 0, 0])];
        let longer = operations.map(|operation| Longer { operation, more: u64::MAX });
        let results = [2u32];
        let raw = RawExpression {
            struct_size: size_of::<RawExpression>(),
            operation_size: size_of::<Longer>(),
            num_operands: 1,
            num_operations: 2,
            operations: longer.as_ptr().cast(),
            num_results: 1,
            results: results.as_ptr(),
        };
        assert!(longer.iter().all(|longer| longer.more == u64::MAX));
        // SAFETY: an expression of these sizes.
        let read = |raw: &RawExpression| unsafe { read(raw) };
        assert_eq!(read(&raw), Expression::new(1, operations.to_vec(), vec![2]));
        assert_eq!(read(&RawExpression { struct_size: raw.struct_size - 1, ..raw }), None);
        assert_eq!(read(&RawExpression { operation_size: size_of::<Operation>() - 1, ..raw }), None);
        // An expression that is not one: the operand of its second operation is missing.
        assert_eq!(read(&RawExpression { num_operands: 0, ..raw }), None);
    }
}
