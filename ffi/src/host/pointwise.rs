//! Expressions of pointwise operations and of those of rows.

use std::ffi::c_void;
use std::ptr;

use oxcall_math::real::Expression;

use super::{AttrValue, BUFFER_ALIGN, CallFrameBuilder, HostVersion, InvokeContext, Registration, call};
use crate::DType;
use crate::descriptor::{Recorded, Stage};
use crate::expression::ExpressionReceiver;

/// The expression of a `#[pointwise]` or `#[rowwise]` function for some attributes, on operands and results of one
/// dtype; its derivatives have one too. A host may compute it in place of calls of the handler.
///
/// `operands` and `results` say of each array whether it has the shape of all; the others are without the last
/// dimension, and numbers of rows. A result that is to be a row may be a value that is the same for all elements.
///
/// `None` for any other handler, where the handler does not know expressions (API 0.4), and where a call would fail:
/// that call then gives the error.
///
/// # Safety
/// The registered functions obey the contract of the XLA FFI.
pub unsafe fn trace(
    registration: &Registration,
    attrs: &[(String, AttrValue)],
    dtype: DType,
    operands: &[bool],
    results: &[bool],
) -> Option<Expression> {
    let Registration { instantiate, prepare, initialize, .. } = *registration;
    let has_numbers = || operands.iter().chain(results).any(|&is_row| !is_row);
    let (row, number): (&[i64], &[i64]) = match registration.recorded {
        Recorded::Rowwise => (&[0, 1], &[0]),
        Recorded::Pointwise if !has_numbers() => (&[0], &[]),
        Recorded::Pointwise | Recorded::Never => return None,
    };
    if prepare.is_some() || initialize.is_some() {
        return None;
    }
    let mut only_attrs = CallFrameBuilder::new();
    // No element is at this address, which is aligned.
    let nothing = ptr::without_provenance_mut::<c_void>(BUFFER_ALIGN);
    let mut frame = CallFrameBuilder::new();
    for &is_row in operands {
        frame.arg(dtype, nothing, if is_row { row } else { number });
    }
    for &is_row in results {
        frame.ret(dtype, nothing, if is_row { row } else { number });
    }
    for (name, value) in attrs {
        frame.attr(name.clone(), value.clone());
        only_attrs.attr(name.clone(), value.clone());
    }
    let receiver = ExpressionReceiver::new();
    let builder = InvokeContext::builder().version(HostVersion::of_minor(registration.minor));
    // SAFETY: the extension outlives the context, which is used on this thread only.
    let context = unsafe { builder.extension(receiver.as_ptr()) }.build();
    let stages = [
        (instantiate, Stage::Instantiate, only_attrs.build()),
        (Some(registration.execute), Stage::Execute, frame.build()),
    ];
    for (handler, stage, mut frame) in stages {
        let Some(handler) = handler else { continue };
        // SAFETY: the caller vouches for the handler; arrays without elements are valid, and the context has neither
        // stream nor user data.
        let outcome = unsafe { call(handler, &mut frame, &context, stage) };
        if !matches!(outcome, Ok(None)) {
            return None;
        }
    }
    drop(context);
    let expression = receiver.received()?;
    if expression.operands() != operands.len() || expression.results().len() != results.len() {
        return None;
    }
    let rows = expression.rows(operands)?;
    let mut values = expression.results().iter().zip(results);
    values.all(|(&value, &is_row)| is_row || !rows[value as usize]).then_some(expression)
}
