//! Reductions of narrow numbers, in 32 bits.
//!
//! Sums and products of integers are the same modulo a smaller power of two, and all else keeps its bits; sums of
//! narrow floats are rounded once. So kernels need no loops for narrow numbers, and the conversions become part of the
//! reductions.

use oxcall_hlo::{BinaryOp, ElementType, Op, OpKind};

use super::super::ir::{Rewrite, Rewriter};
use super::super::short;
use super::body;

/// Expands a reduction of narrow numbers by one op; `None` for all others.
pub(super) fn widened(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let &[operand, init] = &op.operands[..] else { return None };
    let function = short::any_function(op)?;
    let wide = match rewriter.tensor(operand).element {
        // Kernels have the other functions of booleans.
        ElementType::Pred if function != BinaryOp::Xor => return None,
        ElementType::F16 | ElementType::BF16 => ElementType::F32,
        element if element.is_integer() && element.bits() < 32 || element == ElementType::Pred => ElementType::S32,
        _ => return None,
    };
    let result = rewriter.tensor(op.results[0]).clone();
    let operands = [operand, init].map(|value| rewriter.convert(value, wide));
    let body = body(rewriter, function, wide);
    let reduced = rewriter.value(result.with_element(wide).into());
    let (kind, location) = (op.kind.clone(), op.location);
    rewriter.push(Op { kind, operands: operands.into(), results: vec![reduced], regions: vec![body], location });
    Some(Rewrite::one(rewriter.emit(OpKind::Convert, &[reduced], result)))
}
