//! Short rows that are put together from columns, as in gradients of functions of components.
//!
//! The gradient along `x[:, 0]` is a column padded with zeros, and that of a function of several components a sum of
//! such arrays. Columns side by side are a stack, which a fusion writes together with what computes them.

use oxcall_hlo::{BinaryOp, OpKind, TensorType, UnaryOp, ValueId};

use super::super::ir::Rewriter;
use super::super::short::FEWEST;
use super::{Simpler, splat};

/// The most elements of a row.
const LONGEST: usize = 16;

/// Whether these are the dimensions of many short rows. A row spans all dimensions from `first` on.
fn has_short_rows(dims: &[usize], first: usize) -> bool {
    let (rows, row) = dims.split_at(first);
    rows.iter().product::<usize>() >= FEWEST && row.iter().product::<usize>() <= LONGEST
}

/// Padding of short rows as a concatenation of columns.
pub(super) fn pad(
    rewriter: &mut Rewriter<'_>,
    [low, high, interior]: [&[i64]; 3],
    operand: ValueId,
    value: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    let from = rewriter.tensor(operand).dims.clone();
    let first = (0..ty.rank()).find(|&dim| from[dim] != ty.dims[dim])?;
    if low.iter().chain(high).any(|&edge| edge < 0) || !has_short_rows(&ty.dims, first) {
        return None;
    }
    let row: usize = ty.dims[first..].iter().product();
    // The element of the operand's row at each place of a row.
    let mut places = vec![None; row];
    let length: usize = from[first..].iter().product();
    for element in 0..length {
        let (mut rest, mut place, mut stride) = (element, 0, 1);
        for dim in (first..ty.rank()).rev() {
            let index = low[dim] as usize + rest % from[dim] * (interior[dim] as usize + 1);
            place += index * stride;
            (rest, stride) = (rest / from[dim], stride * ty.dims[dim]);
        }
        places[place] = Some(element);
    }
    let rows = ty.count() / row;
    let column = TensorType::new(ty.element, [rows, 1]);
    let padding = rewriter.broadcast(value, &[], &column);
    let array = rewriter.emit(OpKind::Reshape, &[operand], TensorType::new(ty.element, [rows, length]));
    let mut columns = Vec::with_capacity(row);
    for place in places {
        columns.push(match place {
            None => padding,
            Some(_) if length == 1 => array,
            Some(at) => {
                let kind = OpKind::Slice { start: vec![0, at], limit: vec![rows, at + 1], strides: vec![1; 2] };
                rewriter.emit(kind, &[array], column.clone())
            }
        });
    }
    Some(side_by_side(rewriter, 1, columns, TensorType::new(ty.element, [rows, row]), ty))
}

/// The concatenation of columns, of type `joined`, in the shape of `ty`.
fn side_by_side(
    rewriter: &mut Rewriter<'_>,
    dim: usize,
    columns: Vec<ValueId>,
    joined: TensorType,
    ty: &TensorType,
) -> Simpler {
    let kind = OpKind::Concatenate { dim };
    if joined.dims == ty.dims {
        return Simpler::Op(kind, columns);
    }
    Simpler::Op(OpKind::Reshape, vec![rewriter.emit(kind, &columns, joined)])
}

/// The dimension along which a value, seen through a reshape, is a concatenation of columns, its type, and the columns.
fn columns(rewriter: &Rewriter<'_>, value: ValueId) -> Option<(usize, TensorType, Vec<ValueId>)> {
    let reshape = rewriter.def(value).filter(|op| op.kind == OpKind::Reshape);
    let value = reshape.map_or(value, |op| op.operands[0]);
    let op = rewriter.def(value)?;
    let OpKind::Concatenate { dim } = op.kind else { return None };
    let ty = rewriter.tensor(value);
    let is_column = |&part: &ValueId| rewriter.tensor(part).dims[dim..].iter().all(|&size| size == 1);
    let are_columns = has_short_rows(&ty.dims, dim) && op.operands.iter().all(is_column);
    are_columns.then(|| (dim, ty.clone(), op.operands.clone()))
}

/// A function of one or two concatenations of columns as the concatenation of the columns' functions: the sum of two,
/// if some of their columns are constants, and cheap functions of one and a constant of equal elements.
pub(super) fn binary(
    rewriter: &mut Rewriter<'_>,
    op: BinaryOp,
    operands: [ValueId; 2],
    ty: &TensorType,
) -> Option<Simpler> {
    use BinaryOp::{Add, Divide, Multiply, Subtract};
    if !matches!(op, Add | Divide | Multiply | Subtract) {
        return None;
    }
    let constants = operands.map(|operand| splat(rewriter, operand).map(<[u8]>::to_vec));
    let (dim, joined, pairs) = match (operands.map(|operand| columns(rewriter, operand)), constants) {
        ([Some((dim, joined, left)), Some((other, others, right))], _) => {
            let are_alike = (dim, &joined.dims, left.len()) == (other, &others.dims, right.len());
            let has_constant = left.iter().chain(&right).any(|&column| splat(rewriter, column).is_some());
            if op != Add || !has_constant || !are_alike {
                return None;
            }
            (dim, joined, left.into_iter().zip(right).map(|(a, b)| [a, b]).collect::<Vec<_>>())
        }
        ([Some((dim, joined, left)), None], [_, Some(element)]) => {
            let constant = rewriter.splat_like(left[0], element);
            (dim, joined, left.into_iter().map(|column| [column, constant]).collect())
        }
        ([None, Some((dim, joined, right))], [Some(element), _]) => {
            let constant = rewriter.splat_like(right[0], element);
            (dim, joined, right.into_iter().map(|column| [constant, column]).collect())
        }
        _ => return None,
    };
    let apply = |pair: [ValueId; 2]| rewriter.emit_like(OpKind::Binary(op), &pair);
    let columns = pairs.into_iter().map(apply).collect();
    Some(side_by_side(rewriter, dim, columns, joined, ty))
}

/// The negatives of columns.
pub(super) fn negated(rewriter: &mut Rewriter<'_>, op: UnaryOp, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    let (dim, joined, columns) = columns(rewriter, operand).filter(|_| op == UnaryOp::Negate)?;
    let negate = |column: ValueId| rewriter.emit_like(OpKind::Unary(op), &[column]);
    let columns = columns.into_iter().map(negate).collect();
    Some(side_by_side(rewriter, dim, columns, joined, ty))
}
