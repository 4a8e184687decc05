//! Functions of scalars, applied to arrays element by element.

use oxcall_hlo::{Literal, Op, OpKind, Region, TensorType, ValueId};
use oxcall_kernels::math;

use super::{Mapping, Rewriter};

/// Whether an op on scalars returns its operand.
fn is_identity(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Reshape | OpKind::BroadcastInDim { .. } | OpKind::Transpose { .. } | OpKind::OptimizationBarrier
    )
}

/// The first op of `body` that is not an element-wise op on scalars, if there is one.
pub(crate) fn unfit_op<'b>(rewriter: &Rewriter<'_>, body: &'b Region) -> Option<&'b Op> {
    body.ops.iter().find(|op| {
        let is_constant = matches!(op.kind, OpKind::Constant(_));
        let is_scalar = |&value: &ValueId| rewriter.ty(value).tensor().is_some_and(|ty| ty.rank() == 0);
        let has_form = is_identity(&op.kind) || is_constant || math::is_element_wise(&op.kind);
        !has_form || !op.results.iter().all(is_scalar)
    })
}

/// Emits the ops of `body`, a function of scalars with one result and without an [unfit op](unfit_op), on arrays of
/// shape `shape`: `operands` for its parameters. Returns its result.
pub(crate) fn over_arrays(
    rewriter: &mut Rewriter<'_>,
    body: Region,
    operands: &[ValueId],
    shape: &TensorType,
) -> ValueId {
    let mut full = Mapping::default();
    full.extend(&body.params, operands);
    for mut inner in body.ops {
        if is_identity(&inner.kind) {
            full.extend(&inner.results, &full.all(&inner.operands));
            continue;
        }
        if let OpKind::Constant(literal) = &inner.kind {
            let ty = shape.with_element(literal.ty().element);
            let value = rewriter.constant(Literal::splat(ty, literal.element(0)));
            full.insert(inner.results[0], value);
            continue;
        }
        for operand in &mut inner.operands {
            *operand = spread(rewriter, full.get(*operand), shape);
        }
        let results = full.fresh(&inner.results, rewriter.values());
        for (&result, ty) in results.iter().zip(&inner.results) {
            let element = rewriter.tensor(*ty).element;
            rewriter.values()[result.0 as usize] = shape.with_element(element).into();
        }
        rewriter.push(Op { results, ..inner });
    }
    spread(rewriter, full.get(body.results[0]), shape)
}

/// `value` at full shape; values from outside the body are scalars.
fn spread(rewriter: &mut Rewriter<'_>, value: ValueId, shape: &TensorType) -> ValueId {
    if rewriter.tensor(value).rank() == 0 { rewriter.broadcast(value, &[], shape) } else { value }
}
