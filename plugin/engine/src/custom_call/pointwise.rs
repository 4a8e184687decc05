//! Expressions of pointwise functions and of functions of rows.

use oxcall::descriptor::Recorded;
use oxcall::host::{self, Expression};
use oxcall_hlo::{CustomCall, TensorType};
use oxcall_kernels::environment::with_default_environment;

use super::{Host, attributes, target};

/// The shapes of the operands and results of a call, given that of its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shapes<'a> {
    /// Whether each has that shape, or is without the last dimension.
    Rows([&'a [bool]; 2]),
    /// So many results have that shape, to which so many operands are broadcast.
    Broadcast([usize; 2]),
}

/// The expression of a call on operands and results of a type, if its handler is that of a `#[pointwise]` or
/// `#[rowwise]` function. Where the call would fail, there is none: it remains, and gives the error.
pub(crate) fn expression(host: &Host, call: &CustomCall, row: &TensorType, shapes: Shapes<'_>) -> Option<Expression> {
    let registration = target::typed(target::op(&call.target), &host.platform).ok()?;
    // Most handlers are neither: their attributes are converted once, for the call.
    match (registration.recorded, shapes) {
        (Recorded::Never, _) | (Recorded::Rowwise, Shapes::Broadcast(_)) => return None,
        (Recorded::Rowwise, _) if row.rank() == 0 => return None,
        (Recorded::Rowwise | Recorded::Pointwise, _) => {}
    }
    let attributes = attributes::convert(call.typed_attributes()?).ok()?;
    let dtype = row.element.dtype()?;
    let counts = match shapes {
        Shapes::Rows(_) => [0, 0],
        Shapes::Broadcast(counts) => counts,
    };
    let all = counts.map(|count| vec![true; count]);
    let [operands, results] = match shapes {
        Shapes::Rows(are_rows) => are_rows,
        Shapes::Broadcast(_) => [&all[0][..], &all[1][..]],
    };
    // SAFETY: a registered handler obeys the contract.
    with_default_environment(|| unsafe { host::trace(&registration, &attributes, dtype, operands, results) })
}
