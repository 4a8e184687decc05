//! Expressions of pointwise functions and of functions of rows.

use oxcall::descriptor::Recorded;
use oxcall::host::{self, Expression};
use oxcall_hlo::{CustomCall, TensorType};

use super::{Host, attributes, target};
use crate::environment::with_default_environment;

/// The expression of a call on operands and results of a type, if its handler is that of a `#[pointwise]` or
/// `#[rowwise]` function. Of each operand and result it is said whether it has this type, or is without the last
/// dimension. Where the call would fail, there is none: it remains, and gives the error.
pub(crate) fn expression(
    host: &Host,
    call: &CustomCall,
    row: &TensorType,
    are_rows: [&[bool]; 2],
) -> Option<Expression> {
    let registration = target::typed(target::op(&call.target), &host.platform).ok()?;
    // Most handlers are neither: their attributes are converted once, for the call.
    match registration.recorded {
        Recorded::Never => return None,
        Recorded::Rowwise if row.rank() == 0 => return None,
        Recorded::Rowwise | Recorded::Pointwise => {}
    }
    let attributes = attributes::convert(call.typed_attributes()?).ok()?;
    let (dtype, [operands, results]) = (row.element.dtype()?, are_rows);
    // SAFETY: a registered handler obeys the contract.
    with_default_environment(|| unsafe { host::trace(&registration, &attributes, dtype, operands, results) })
}
