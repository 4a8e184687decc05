//! Slices and their updates, simplified.

use oxcall_hlo::{ElementType, Literal, Op, OpKind, ScatterDims, TensorType, ValueId};

use super::super::ir::{Rewriter, over_arrays, unfit_op};
use super::{Simpler, splat};

pub(super) fn slice(
    rewriter: &Rewriter<'_>,
    [start, limit, strides]: [&[usize]; 3],
    operand: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    if rewriter.tensor(operand).dims == ty.dims {
        return Some(Simpler::Value(operand));
    }
    if let Some(element) = splat(rewriter, operand) {
        return Some(Simpler::Constant(Literal::splat(ty.clone(), element)));
    }
    let inner = rewriter.def(operand)?;
    match &inner.kind {
        OpKind::Slice { start: first, strides: steps, .. } => {
            // Element i of the outer slice is element start + i * stride of the inner one.
            let rank = ty.rank();
            let start: Vec<usize> = (0..rank).map(|dim| first[dim] + start[dim] * steps[dim]).collect();
            let strides: Vec<usize> = (0..rank).map(|dim| steps[dim].saturating_mul(strides[dim])).collect();
            let limit = (0..rank).map(|dim| match ty.dims[dim] {
                0 => start[dim],
                size => start[dim] + (size - 1) * strides[dim] + 1,
            });
            let limit = limit.collect();
            Simpler::unary(OpKind::Slice { start, limit, strides }, inner.operands[0])
        }
        OpKind::Concatenate { dim } => {
            // The operand of the concatenation that contains the slice, if one does.
            let mut offset = 0;
            for &part in &inner.operands {
                let size = rewriter.tensor(part).dims[*dim];
                if start[*dim] >= offset && limit[*dim] <= offset + size {
                    let moved = |bounds: &[usize]| {
                        let mut bounds = bounds.to_vec();
                        bounds[*dim] -= offset;
                        bounds
                    };
                    let kind = OpKind::Slice { start: moved(start), limit: moved(limit), strides: strides.to_vec() };
                    return Simpler::unary(kind, part);
                }
                offset += size;
            }
            None
        }
        _ => None,
    }
}

/// The constant integer scalar `value`, clamped to `0..=max`.
fn constant_index(rewriter: &Rewriter<'_>, value: ValueId, max: usize) -> Option<usize> {
    let literal = rewriter.literal(value)?;
    let element: ElementType = literal.ty().element;
    let bytes = literal.element(0);
    Some(whole_number(element, bytes).map_or(0, |index| usize::try_from(index).map_or(max, |index| index.min(max))))
}

pub(super) fn dynamic_slice(
    rewriter: &Rewriter<'_>,
    sizes: &[usize],
    operands: &[ValueId],
    ty: &TensorType,
) -> Option<Simpler> {
    let from = rewriter.tensor(operands[0]);
    if from.dims == ty.dims {
        return Some(Simpler::Value(operands[0]));
    }
    if let Some(element) = splat(rewriter, operands[0]) {
        return Some(Simpler::Constant(Literal::splat(ty.clone(), element)));
    }
    // Where the slice is as large as the operand, any index is clamped to 0.
    let start = operands[1..].iter().enumerate().map(|(dim, &index)| match from.dims[dim] - sizes[dim] {
        0 => Some(0),
        max => constant_index(rewriter, index, max),
    });
    let start: Vec<usize> = start.collect::<Option<_>>()?;
    let limit = start.iter().zip(sizes).map(|(start, size)| start + size).collect();
    Simpler::unary(OpKind::Slice { start, limit, strides: vec![1; sizes.len()] }, operands[0])
}

pub(super) fn dynamic_update_slice(rewriter: &Rewriter<'_>, operands: &[ValueId], ty: &TensorType) -> Option<Simpler> {
    let update = rewriter.tensor(operands[1]);
    if update.dims == ty.dims {
        return Some(Simpler::Value(operands[1]));
    }
    (update.count() == 0).then_some(Simpler::Value(operands[0]))
}

/// A scatter of one window that is in bounds: an update of a slice by what the body computes of it and the update.
pub(super) fn scatter(rewriter: &mut Rewriter<'_>, op: &Op, dims: &ScatterDims) -> Option<Simpler> {
    let (&[operand, indices, updates], [body]) = (&op.operands[..], &op.regions[..]) else { return None };
    let (from, window) = (rewriter.tensor(operand).clone(), rewriter.tensor(updates).clone());
    let index = rewriter.tensor(indices).clone();
    let is_one = index.count() == dims.scatter_dims_to_operand_dims.len() && dims.input_batching_dims.is_empty();
    // A body may compute wider elements.
    let is_alike = rewriter.tensor(op.results[0]).element == from.element;
    if !is_one || !is_alike || window.count() == 0 || unfit_op(rewriter, body).is_some() {
        return None;
    }
    let literal = rewriter.literal(indices)?.clone();
    // The window along each dimension of the operand.
    let mut inner = dims.update_window_dims.iter().map(|&dim| window.dims[dim]);
    let mut sizes: Vec<usize> = Vec::new();
    for dim in 0..from.rank() {
        sizes.push(if dims.inserted_window_dims.contains(&dim) { 1 } else { inner.next()? });
    }
    let mut start = vec![0; from.rank()];
    for (place, &dim) in dims.scatter_dims_to_operand_dims.iter().enumerate() {
        let last = from.dims[dim].checked_sub(sizes[dim])?;
        let first = whole_number(index.element, literal.element(place))?;
        start[dim] = usize::try_from(first).ok().filter(|&first| first <= last)?;
    }
    let slice = TensorType { dims: sizes.clone().into(), ..window };
    let update = rewriter.emit(OpKind::Reshape, &[updates], slice.clone());
    let limit = start.iter().zip(&sizes).map(|(start, size)| start + size).collect();
    let kind = OpKind::Slice { start: start.clone(), limit, strides: vec![1; sizes.len()] };
    let old = rewriter.emit(kind, &[operand], slice.clone());
    let update = over_arrays(rewriter, body.clone(), &[old, update], &slice);
    let mut operands = vec![operand, update];
    for index in start {
        let bytes = (index as i64).to_le_bytes();
        operands.push(rewriter.constant(Literal::splat(TensorType::scalar(ElementType::S64), bytes)));
    }
    Some(Simpler::Op(OpKind::DynamicUpdateSlice, operands))
}

/// An integer; `None` if it is negative.
fn whole_number(element: ElementType, bytes: &[u8]) -> Option<u64> {
    let is_negative = element.is_signed() && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    (!is_negative).then(|| u64::from_le_bytes(wide))
}
