//! Gather, scatter, and select-and-scatter.

mod gather;
mod scatter;
mod select_and_scatter;
mod starts;
#[cfg(test)]
mod tests;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind};

use crate::kernel::Kernel;

/// The kernel of an op of this family.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    match &op.kind {
        OpKind::Gather { dims, slice_sizes, .. } => gather::make(op, func, dims, slice_sizes),
        OpKind::Scatter { dims, .. } => scatter::make(op, func, dims),
        OpKind::SelectAndScatter { window } => select_and_scatter::make(op, func, window),
        other => Err(Error::internal(format!("expected gather, scatter or select_and_scatter, got {}", other.name()))),
    }
}

/// The kernel of a scatter whose updates are copies of one `element`, or of the only element of the third operand, if
/// there is one.
pub fn scatter_of_one(op: &Op, func: &Func, element: Option<&[u8]>) -> Result<Option<Box<dyn Kernel>>, Error> {
    match &op.kind {
        OpKind::Scatter { dims, .. } if op.results.len() == 1 => scatter::of_one(op, func, dims, element),
        _ => Ok(None),
    }
}
