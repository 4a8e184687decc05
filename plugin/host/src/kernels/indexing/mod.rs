//! Gather, scatter, and select-and-scatter.

mod gather;
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
        other => Err(Error::internal(format!("{} does not index", other.name()))),
    }
}
