//! Expressions of pointwise operations.

use std::ffi::c_void;
use std::ptr;

use oxcall_math::real::Expression;

use super::{AttrValue, BUFFER_ALIGN, CallFrameBuilder, HostVersion, InvokeContext, Registration, call};
use crate::DType;
use crate::descriptor::Stage;
use crate::expression::ExpressionReceiver;

/// The expression of a `#[pointwise]` function for some attributes, on operands and results of one dtype, all of one
/// shape; its derivatives have one too. A host may compute it in place of calls of the handler.
///
/// `None` for any other handler, where the handler does not know expressions (API 0.4), for functions of thousands of
/// operations, and where a call would fail: that call then gives the error.
///
/// # Safety
/// The registered functions obey the contract of the XLA FFI.
pub unsafe fn trace_pointwise(
    registration: &Registration,
    attrs: &[(String, AttrValue)],
    dtype: DType,
    operands: usize,
    results: usize,
) -> Option<Expression> {
    let Registration { instantiate, prepare, initialize, .. } = registration;
    if !registration.is_pointwise || [instantiate, prepare, initialize].into_iter().any(Option::is_some) {
        return None;
    }
    // No element is at this address, which is aligned.
    let nothing = ptr::without_provenance_mut::<c_void>(BUFFER_ALIGN);
    let mut frame = CallFrameBuilder::new();
    for _ in 0..operands {
        frame.arg(dtype, nothing, &[0]);
    }
    for _ in 0..results {
        frame.ret(dtype, nothing, &[0]);
    }
    for (name, value) in attrs {
        frame.attr(name.clone(), value.clone());
    }
    let receiver = ExpressionReceiver::new();
    let builder = InvokeContext::builder().version(HostVersion::of_minor(registration.minor));
    // SAFETY: the extension outlives the context, which is used on this thread only.
    let context = unsafe { builder.extension(receiver.as_ptr()) }.build();
    // SAFETY: the caller vouches for the handler; arrays without elements are valid, and the context has neither
    // stream nor user data.
    let outcome = unsafe { call(registration.execute, &mut frame.build(), &context, Stage::Execute) };
    drop(context);
    if !matches!(outcome, Ok(None)) {
        return None;
    }
    let expression = receiver.received()?;
    (expression.operands() == operands && expression.results().len() == results).then_some(expression)
}
