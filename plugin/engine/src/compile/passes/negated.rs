//! Concatenations of slices, some of them negated, as in rotary embeddings.
//!
//! `concatenate(-x[n:], x[:n])` becomes `select(mask, -y, y)` of `y = concatenate(x[n:], x[:n])`, where the mask is a
//! constant. Fusions read slices and their concatenations where the elements are, but not those of what they compute.

use oxcall::Error;
use oxcall_hlo::{ElementType, Literal, Module, Op, OpKind, TensorType, UnaryOp, ValueId};
use smallvec::smallvec;

use super::ir::Rewriter;
use super::short::{self, FEWEST, Uses};

/// The most slices.
const MOST: usize = 4;

/// Replaces such concatenations. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn concatenations(module: &mut Module) -> Result<bool, Error> {
    short::replace(module, |rewriter, op, uses| Some(smallvec![selected(rewriter, op, uses)?]))
}

/// The elements of a concatenation, some of them negated after they are put together.
fn selected(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<ValueId> {
    let OpKind::Concatenate { dim } = op.kind else { return None };
    let ty = rewriter.tensor(op.results[0]).clone();
    if op.operands.len() > MOST || ty.checked_count()? < FEWEST {
        return None;
    }
    let parts: Vec<(ValueId, bool)> =
        op.operands.iter().map(|&part| slice(rewriter, part, uses)).collect::<Option<_>>()?;
    let negated = parts.iter().filter(|(_, is_negated)| *is_negated).count();
    if negated == 0 || negated == parts.len() {
        return None;
    }
    let sizes = parts.iter().map(|&(part, is_negated)| (rewriter.tensor(part).dims[dim], is_negated));
    let mask: Vec<u8> = sizes.flat_map(|(size, is_negated)| std::iter::repeat_n(u8::from(is_negated), size)).collect();
    let slices: Vec<ValueId> = parts.into_iter().map(|(part, _)| part).collect();
    let row = rewriter.constant(Literal::dense(TensorType::new(ElementType::Pred, [ty.dims[dim]]), mask));
    let mask = TensorType::new(ElementType::Pred, ty.dims.iter().copied());
    let mask = rewriter.emit(OpKind::BroadcastInDim { dims: vec![dim] }, &[row], mask);
    let together = rewriter.emit(OpKind::Concatenate { dim }, &slices, ty.clone());
    let opposite = rewriter.emit(OpKind::Unary(UnaryOp::Negate), &[together], ty.clone());
    Some(rewriter.emit(OpKind::Select, &[mask, opposite, together], ty))
}

/// The slice that a part of a concatenation is, and whether it is negated.
fn slice(rewriter: &Rewriter<'_>, part: ValueId, uses: &Uses) -> Option<(ValueId, bool)> {
    let def = rewriter.def(part)?;
    match (&def.kind, &def.operands[..]) {
        (OpKind::Slice { .. }, _) => Some((part, false)),
        (OpKind::Unary(UnaryOp::Negate), &[source]) if uses.get(&part) == Some(&1) => {
            let is_slice = matches!(rewriter.def(source)?.kind, OpKind::Slice { .. });
            is_slice.then_some((source, true))
        }
        _ => None,
    }
}
