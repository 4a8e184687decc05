//! `map` with an element-wise body, expanded to the body's ops at full shape.

use oxcall::Error;
use oxcall_hlo::Op;

use super::super::ir::{Rewrite, Rewriter, over_arrays, unfit_op};

/// Expands a map, in whose body everything is a scalar.
pub(super) fn expand(rewriter: &mut Rewriter<'_>, op: Op) -> Result<Rewrite, Error> {
    let shape = rewriter.tensor(op.results[0]).clone();
    let [body] = op.regions.try_into().map_err(|_| Error::internal("expected one region"))?;
    if let Some(inner) = unfit_op(rewriter, &body) {
        let error = Error::unimplemented("only element-wise ops on scalars are supported in the body of a map");
        return Err(rewriter.error_in(error, inner));
    }
    Ok(Rewrite::one(over_arrays(rewriter, body, &op.operands, &shape)))
}
