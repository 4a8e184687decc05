//! Expressions of pointwise functions.

use oxcall::host::{self, Expression};
use oxcall_hlo::{CustomCall, ElementType};

use super::{Host, attributes, target};
use crate::environment::with_default_environment;

/// The expression of a call on operands and results of an element type, if its handler is that of a `#[pointwise]`
/// function. Where the call would fail, there is none: it remains, and gives the error.
pub(crate) fn expression(
    host: &Host,
    call: &CustomCall,
    element: ElementType,
    counts: [usize; 2],
) -> Option<Expression> {
    let registration = target::typed(target::op(&call.target), &host.platform).ok()?;
    // Most handlers are not: their attributes are converted once, for the call.
    if !registration.is_pointwise {
        return None;
    }
    let attributes = attributes::convert(call.typed_attributes()?).ok()?;
    let (dtype, [operands, results]) = (element.dtype()?, counts);
    // SAFETY: a registered handler obeys the contract.
    with_default_environment(|| unsafe { host::trace_pointwise(&registration, &attributes, dtype, operands, results) })
}
