//! `ApproxTopK`, by which JAX asks for the largest or smallest elements of rows: `top_k`, which is exact.

use oxcall_hlo::{Attribute, ElementType, Op, OpKind};

use super::super::ir::{Rewrite, Rewriter};

/// The elements with the largest or smallest values of each row, and their positions; `None` if these are not what the
/// call asks for, or the dimension is not the last. Its handler then looks at one element after another.
pub(super) fn expand(rewriter: &Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let OpKind::CustomCall(call) = &op.kind else { return None };
    let (&[values, positions, initial, _], &[found, places]) = (&op.operands[..], &op.results[..]) else { return None };
    if call.target != "ApproxTopK" || call.operand_layouts.is_some() || call.result_layouts.is_some() {
        return None;
    }
    let attributes = call.typed_attributes()?;
    let last = rewriter.tensor(values).dims.len().checked_sub(1)?;
    if attributes.get("reduction_dim")?.as_integer()? != last as i64 {
        return None;
    }
    let is_position = rewriter.def(positions)?.kind == OpKind::Iota { dim: last };
    let [from, to] = [values, found].map(|value| rewriter.tensor(value));
    let (count, k) = (from.dims[last], *to.dims.last()?);
    let is_sorted = k < count || attributes.get("aggregate_to_topk") != Some(&Attribute::Bool(false));
    let is_one = k <= count && from.dims[..last] == to.dims[..last] && from.element == to.element;
    if !is_position || !is_sorted || !is_one || rewriter.tensor(places).element != ElementType::S32 {
        return None;
    }
    // Every element beats the initial value, which is the lowest for the largest.
    let least = rewriter.literal(initial)?.element(0);
    let largest = if from.element.is_unsigned() {
        least.iter().all(|&byte| byte == 0)
    } else {
        least.last().is_some_and(|&byte| byte >= 0x80)
    };
    Some(Rewrite::Keep(Op { kind: OpKind::TopK { k, largest }, operands: [values].into(), ..op.clone() }))
}
