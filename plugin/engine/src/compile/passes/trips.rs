//! The number of iterations of loops that count.

use oxcall_hlo::{BinaryOp, ComparisonDirection, ElementType, Op, OpKind, Region, ValueId};

use super::ir::Rewriter;

/// The number of iterations of a loop that goes on while `counter < end`, where the counter starts at a constant and
/// grows by a constant; `None` for other loops, and for those without iterations.
pub(super) fn count(rewriter: &Rewriter<'_>, op: &Op) -> Option<i64> {
    let [cond, body] = &op.regions[..] else { return None };
    let compare = defining(cond, cond.results[0])?;
    let OpKind::Compare(ComparisonDirection::Lt, _) = compare.kind else { return None };
    let counter = cond.params.iter().position(|&param| param == compare.operands[0])?;
    let start = number(rewriter, None, op.operands[counter])?;
    let end = number(rewriter, Some(cond), compare.operands[1])?;
    let next = defining(body, body.results[counter])?;
    let param = body.params[counter];
    let step = match (&next.kind, &next.operands[..]) {
        (OpKind::Binary(BinaryOp::Add), &[x, step]) if x == param => number(rewriter, Some(body), step)?,
        (OpKind::Binary(BinaryOp::Add), &[step, x]) if x == param => number(rewriter, Some(body), step)?,
        _ => return None,
    };
    let distance = end.checked_sub(start).filter(|&distance| distance > 0 && step > 0)?;
    Some((distance - 1) / step + 1)
}

/// The op of `region` that defines `value`.
pub(super) fn defining(region: &Region, value: ValueId) -> Option<&Op> {
    region.ops.iter().find(|op| op.results.contains(&value))
}

/// The number in `value`, if it is a signed integer constant in `region` or outside.
fn number(rewriter: &Rewriter<'_>, region: Option<&Region>, value: ValueId) -> Option<i64> {
    let inside = region.and_then(|region| defining(region, value));
    let literal = match inside.map(|op| &op.kind) {
        Some(OpKind::Constant(literal)) => literal,
        Some(_) => return None,
        None => rewriter.literal(value)?,
    };
    let bytes = literal.element(0);
    match literal.ty().element {
        ElementType::S32 => Some(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        ElementType::S64 => Some(i64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}
