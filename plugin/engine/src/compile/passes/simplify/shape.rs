//! Ops that rearrange elements.

use oxcall_hlo::{Literal, OpKind, TensorType, ValueId};

use super::super::ir::Rewriter;
use super::{Simpler, splat};

/// A splat remains a splat in any shape.
fn of_splat(rewriter: &Rewriter<'_>, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    splat(rewriter, operand).map(|element| Simpler::Constant(Literal::splat(ty.clone(), element)))
}

fn is_identity(dims: &[usize]) -> bool {
    dims.iter().copied().eq(0..dims.len())
}

pub(super) fn broadcast(rewriter: &Rewriter<'_>, dims: &[usize], operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    let from = rewriter.tensor(operand);
    if from.dims == ty.dims && is_identity(dims) {
        return Some(Simpler::Value(operand));
    }
    if let Some(constant) = of_splat(rewriter, operand, ty) {
        return Some(constant);
    }
    if let Some(inner) = rewriter.def(operand) {
        let source = inner.operands.first().copied();
        let composed = match &inner.kind {
            OpKind::BroadcastInDim { dims: inner } => Some(inner.iter().map(|&dim| dims[dim]).collect()),
            OpKind::Reshape => added_ones(&rewriter.tensor(source?).dims, &from.dims)
                .map(|places| places.into_iter().map(|dim| dims[dim]).collect()),
            _ => None,
        };
        if let Some(dims) = composed {
            return Simpler::unary(OpKind::BroadcastInDim { dims }, source?);
        }
    }
    // Only dimensions of size 1 are new: the elements stay in order.
    (from.count() == ty.count() && dims.is_sorted()).then(|| Simpler::Op(OpKind::Reshape, vec![operand]))
}

/// If `to` is `from` with inserted dimensions of size 1, the place of each dimension of `from`.
fn added_ones(from: &[usize], to: &[usize]) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(from.len());
    for (place, &size) in to.iter().enumerate() {
        if from.get(places.len()) == Some(&size) {
            places.push(place);
        } else if size != 1 {
            return None;
        }
    }
    (places.len() == from.len()).then_some(places)
}

pub(super) fn reshape(rewriter: &Rewriter<'_>, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    if rewriter.tensor(operand).dims == ty.dims {
        return Some(Simpler::Value(operand));
    }
    if let Some(literal) = rewriter.literal(operand) {
        return Some(Simpler::Constant(literal.reshaped(ty.clone())));
    }
    let inner = rewriter.def(operand)?;
    let source = *inner.operands.first()?;
    match &inner.kind {
        OpKind::Reshape => Simpler::unary(OpKind::Reshape, source),
        OpKind::BroadcastInDim { dims } if dims.is_empty() => {
            Simpler::unary(OpKind::BroadcastInDim { dims: Vec::new() }, source)
        }
        _ => None,
    }
}

pub(super) fn transpose(
    rewriter: &mut Rewriter<'_>,
    permutation: &[usize],
    operand: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    if is_identity(permutation) {
        return Some(Simpler::Value(operand));
    }
    if let Some(constant) = of_splat(rewriter, operand, ty) {
        return Some(constant);
    }
    if let Some(inner) = rewriter.def(operand) {
        let source = inner.operands.first().copied();
        match &inner.kind {
            OpKind::Transpose { permutation: inner } => {
                let permutation = permutation.iter().map(|&dim| inner[dim]).collect();
                return Simpler::unary(OpKind::Transpose { permutation }, source?);
            }
            OpKind::BroadcastInDim { dims } => {
                let place = |dim: &usize| permutation.iter().position(|from| from == dim);
                let dims = dims.iter().map(place).collect::<Option<_>>()?;
                return Simpler::unary(OpKind::BroadcastInDim { dims }, source?);
            }
            _ => {}
        }
    }
    if keeps_order(&rewriter.tensor(operand).dims, permutation) {
        return Some(Simpler::Op(OpKind::Reshape, vec![operand]));
    }
    transposed_stack(rewriter, permutation, operand)
}

/// Whether only dimensions of size 1 move: the elements stay in order.
fn keeps_order(dims: &[usize], permutation: &[usize]) -> bool {
    permutation.iter().filter(|&&dim| dims[dim] != 1).is_sorted()
}

/// The transpose of a concatenation whose parts stay in order, as of a stack: a concatenation along another dimension.
fn transposed_stack(rewriter: &mut Rewriter<'_>, permutation: &[usize], operand: ValueId) -> Option<Simpler> {
    let stack = rewriter.def(operand)?;
    let OpKind::Concatenate { dim } = stack.kind else { return None };
    let parts = stack.operands.clone();
    if !parts.iter().all(|&part| keeps_order(&rewriter.tensor(part).dims, permutation)) {
        return None;
    }
    let transposed = |part: ValueId| {
        let ty = rewriter.tensor(part).clone();
        let dims: Vec<usize> = permutation.iter().map(|&dim| ty.dims[dim]).collect();
        rewriter.emit(OpKind::Reshape, &[part], TensorType::new(ty.element, dims))
    };
    let parts = parts.into_iter().map(transposed).collect();
    let dim = permutation.iter().position(|&from| from == dim)?;
    Some(Simpler::Op(OpKind::Concatenate { dim }, parts))
}

pub(super) fn reverse(rewriter: &Rewriter<'_>, dims: &[usize], operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    if splat(rewriter, operand).is_some() {
        return Some(Simpler::Value(operand));
    }
    let mut left: Vec<usize> = dims.iter().copied().filter(|&dim| ty.dims[dim] > 1).collect();
    let mut source = operand;
    if let Some(inner) = rewriter.def(operand)
        && let OpKind::Reverse { dims: inner_dims } = &inner.kind
    {
        // Dimensions that are reversed twice are not reversed.
        let both: Vec<usize> = left.iter().copied().filter(|dim| inner_dims.contains(dim)).collect();
        left.extend(inner_dims);
        left.retain(|dim| !both.contains(dim));
        source = inner.operands[0];
    }
    if left.is_empty() {
        Some(Simpler::Value(source))
    } else if left.len() == dims.len() && source == operand {
        None
    } else {
        Simpler::unary(OpKind::Reverse { dims: left }, source)
    }
}

pub(super) fn concatenate(
    rewriter: &Rewriter<'_>,
    dim: usize,
    operands: &[ValueId],
    ty: &TensorType,
) -> Option<Simpler> {
    let parts: Vec<ValueId> = operands.iter().copied().filter(|part| rewriter.tensor(*part).dims[dim] != 0).collect();
    match parts.as_slice() {
        // All are empty.
        [] => Some(Simpler::Value(operands[0])),
        [part] => Some(Simpler::Value(*part)),
        [first, rest @ ..] => {
            let element = splat(rewriter, *first);
            if element.is_some() && rest.iter().all(|part| splat(rewriter, *part) == element) {
                return of_splat(rewriter, *first, ty);
            }
            (parts.len() < operands.len()).then(|| Simpler::Op(OpKind::Concatenate { dim }, parts))
        }
    }
}

pub(super) fn pad(
    rewriter: &Rewriter<'_>,
    [low, high, interior]: [&[i64]; 3],
    operand: ValueId,
    value: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    let from = rewriter.tensor(operand);
    let holes = interior.iter().zip(&from.dims).any(|(&interior, &size)| interior > 0 && size > 1);
    if !holes && low.iter().chain(high).all(|&padding| padding == 0) {
        return Some(Simpler::Value(operand));
    }
    if !holes && low.iter().chain(high).all(|&padding| padding <= 0) {
        let ends = |dim: usize| (low[dim].unsigned_abs() as usize, from.dims[dim] - high[dim].unsigned_abs() as usize);
        let (start, limit) = (0..from.rank()).map(ends).unzip();
        return Simpler::unary(OpKind::Slice { start, limit, strides: vec![1; from.rank()] }, operand);
    }
    let same = splat(rewriter, operand).is_some_and(|element| splat(rewriter, value) == Some(element));
    if same || from.count() == 0 {
        return match splat(rewriter, value) {
            Some(element) => Some(Simpler::Constant(Literal::splat(ty.clone(), element))),
            None => Simpler::unary(OpKind::BroadcastInDim { dims: Vec::new() }, value),
        };
    }
    None
}
