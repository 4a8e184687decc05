//! Branches that constants choose.

use oxcall::Error;
use oxcall_hlo::{Module, OpKind};

use super::ir::{Rewrite, rewrite};

/// Puts the chosen branch in the place of an `if` or `case` whose operand is a constant. Says whether there was one.
///
/// # Errors
/// None now; the type is that of rewrites.
pub(crate) fn take_known(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, mut op| {
        let constant =
            op.operands.first().and_then(|&operand| rewriter.literal(operand)).map(|literal| literal.element(0));
        let branch = match (&op.kind, constant) {
            (OpKind::If, Some(pred)) => usize::from(pred[0] == 0),
            (OpKind::Case, Some(index)) => {
                let index = i32::from_le_bytes(index.try_into().expect("verified: an i32"));
                let last = op.regions.len() - 1;
                usize::try_from(index).map_or(last, |index| index.min(last))
            }
            _ => return Ok(Rewrite::Keep(op)),
        };
        Ok(Rewrite::With(rewriter.splice(op.regions.swap_remove(branch))))
    })
}
