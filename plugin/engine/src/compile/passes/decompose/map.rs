//! `map` with an element-wise body, expanded to the body's ops at full shape.

use oxcall::Error;
use oxcall_hlo::{Literal, Op, OpKind, TensorType, ValueId};
use oxcall_kernels::math;

use super::super::ir::{Mapping, Rewrite, Rewriter};

/// Whether an op on scalars returns its operand.
fn is_scalar_identity(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Reshape | OpKind::BroadcastInDim { .. } | OpKind::Transpose { .. } | OpKind::OptimizationBarrier
    )
}

/// Expands a map, in whose body everything is a scalar.
pub(super) fn expand(rewriter: &mut Rewriter<'_>, op: Op) -> Result<Rewrite, Error> {
    let shape = rewriter.tensor(op.results[0]).clone();
    let [body] = op.regions.try_into().map_err(|_| Error::internal("expected one region"))?;
    let mut full = Mapping::default();
    full.extend(&body.params, &op.operands);
    for mut inner in body.ops {
        let scalars = inner.results.iter().all(|&value| rewriter.ty(value).tensor().is_some_and(|ty| ty.rank() == 0));
        if is_scalar_identity(&inner.kind) && scalars {
            full.extend(&inner.results, &full.all(&inner.operands));
            continue;
        }
        if let OpKind::Constant(literal) = &inner.kind
            && scalars
        {
            let ty = shape.with_element(literal.ty().element);
            let value = rewriter.constant(Literal::splat(ty, literal.element(0)));
            full.insert(inner.results[0], value);
            continue;
        }
        if !math::is_element_wise(&inner.kind) || !scalars {
            let error = Error::unimplemented("only element-wise ops on scalars are supported in the body of a map");
            return Err(rewriter.error_in(error, &inner));
        }
        for operand in &mut inner.operands {
            *operand = spread(rewriter, full.get(*operand), &shape);
        }
        let results = full.fresh(&inner.results, rewriter.values());
        for (&result, ty) in results.iter().zip(&inner.results) {
            let element = rewriter.tensor(*ty).element;
            rewriter.values()[result.0 as usize] = shape.with_element(element).into();
        }
        rewriter.push(Op { results, ..inner });
    }
    Ok(Rewrite::one(spread(rewriter, full.get(body.results[0]), &shape)))
}

/// `value` at full shape; values from outside the body are scalars.
fn spread(rewriter: &mut Rewriter<'_>, value: ValueId, shape: &TensorType) -> ValueId {
    if rewriter.tensor(value).rank() == 0 { rewriter.broadcast(value, &[], shape) } else { value }
}
