//! Sort and top-k.
//!
//! Comparators that order by keys (see [`comparator`]) never run: a key becomes an unsigned integer of the same order,
//! and integers are sorted, by radix if there are many. Other operands follow by the resulting permutation. Any other
//! comparator runs as a scalar program in a merge sort.

mod comparator;
mod key;
mod merge;
#[allow(unsafe_code, reason = "threads write to places of one slice, which counts of digits tell apart")]
mod partition;
mod radix;
mod short;
mod sorter;
#[cfg(test)]
mod tests;
mod top_k;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind};

use crate::kernel::Kernel;

/// The kernel of an op of this family.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    match op.kind {
        OpKind::Sort { dim, .. } => sorter::make(op, func, dim),
        OpKind::TopK { k, largest } => top_k::make(op, func, k, largest),
        ref other => Err(Error::internal(format!("expected sort or top_k, got {}", other.name()))),
    }
}
