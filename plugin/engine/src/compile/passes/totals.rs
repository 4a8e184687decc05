//! Running totals of a few elements as element-wise ops, as in `jnp.piecewise` and sums of components.
//!
//! They arrive as windows over all elements up to each. Slices along the dimension are added one after another, and the
//! totals are concatenated: a fusion computes them, where a scan would take one short line after another.

use oxcall::Error;
use oxcall_hlo::{Module, Op, OpKind, ValueId};
use oxcall_kernels::kernels::window::running_totals;
use smallvec::smallvec;

use super::ir::Rewriter;
use super::short::{self, FEWEST, Uses};

/// The most elements of a line.
const LONGEST: usize = 8;

/// Replaces short running totals. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn short(module: &mut Module) -> Result<bool, Error> {
    short::replace(module, |rewriter, op, uses| Some(smallvec![unrolled(rewriter, op, uses)?]))
}

/// The totals, if `op` computes those of a few elements.
fn unrolled(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<ValueId> {
    let (OpKind::ReduceWindow { window }, &[operand, init]) = (&op.kind, &op.operands[..]) else { return None };
    let ty = rewriter.tensor(operand).clone();
    let (dim, is_reverse) = running_totals(&ty.dims, window)?;
    let function = short::function(op, &ty)?;
    let size = ty.dims[dim];
    if !(2..=LONGEST).contains(&size) || ty.checked_count()? / size < FEWEST {
        return None;
    }
    let mut parts = short::slices(rewriter, uses, operand, dim)?;
    if is_reverse {
        parts.reverse();
    }
    let part = rewriter.tensor(parts[0]).clone();
    let mut total = rewriter.broadcast(init, &[], &part);
    let mut totals = Vec::with_capacity(size);
    for slice in parts {
        total = rewriter.emit_like(OpKind::Binary(function), &[total, slice]);
        let mut one = part.clone();
        one.dims.insert(dim, 1);
        totals.push(rewriter.emit(OpKind::Reshape, &[total], one));
    }
    if is_reverse {
        totals.reverse();
    }
    Some(rewriter.emit(OpKind::Concatenate { dim }, &totals, ty))
}
