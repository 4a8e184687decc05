//! Rules that make programs smaller without changing a bit of their results, NaN payloads excepted.

mod arithmetic;
mod components;
mod control;
mod convert;
mod index;
mod integer;
mod positions;
mod shape;

use oxcall::Error;
use oxcall_hlo::{Literal, Module, Op, OpKind, TensorType, ValueId};

use super::fold::{self, Evaluate};
use super::ir::{Rewrite, Rewriter, rewrite};

/// The replacement of an op.
enum Simpler {
    /// An existing value.
    Value(ValueId),
    /// An op with one result, of the same type.
    Op(OpKind, Vec<ValueId>),
    /// An op of a value and a constant.
    WithConstant(OpKind, ValueId, Literal),
    /// A constant.
    Constant(Literal),
}

impl Simpler {
    /// An op with one operand.
    fn unary(kind: OpKind, operand: ValueId) -> Option<Simpler> {
        Some(Simpler::Op(kind, vec![operand]))
    }
}

/// Applies every rule once to each op, in program order, so that a rule sees simplified operands. Returns whether
/// anything changed.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn simplify(module: &mut Module, evaluate: &Evaluate<'_>) -> Result<bool, Error> {
    rewrite(module, |rewriter, mut op| {
        if let Some(values) = control::simplify(rewriter, &mut op) {
            return Ok(Rewrite::With(values.into()));
        }
        let [result] = op.results[..] else { return Ok(Rewrite::Keep(op)) };
        let Some(ty) = rewriter.ty(result).tensor().cloned() else { return Ok(Rewrite::Keep(op)) };
        let simpler =
            rule(rewriter, &op, &ty).or_else(|| fold::fold(rewriter, &op, &ty, evaluate).map(Simpler::Constant));
        Ok(match simpler {
            None => Rewrite::Keep(op),
            Some(Simpler::Value(value)) => Rewrite::one(value),
            Some(Simpler::Op(kind, operands)) => Rewrite::one(rewriter.emit(kind, &operands, ty)),
            Some(Simpler::WithConstant(kind, value, literal)) => {
                let constant = rewriter.constant(literal);
                Rewrite::one(rewriter.emit(kind, &[value, constant], ty))
            }
            Some(Simpler::Constant(literal)) => Rewrite::one(rewriter.constant(literal)),
        })
    })
}

/// The first rule that applies to `op`, whose result is of type `ty`.
fn rule(rewriter: &mut Rewriter<'_>, op: &Op, ty: &TensorType) -> Option<Simpler> {
    let operand = op.operands.first().copied();
    match &op.kind {
        OpKind::Unary(unary) => arithmetic::unary(rewriter, *unary, operand?, ty)
            .or_else(|| components::negated(rewriter, *unary, operand?, ty)),
        OpKind::Binary(binary) => arithmetic::binary(rewriter, *binary, operand?, op.operands[1], ty)
            .or_else(|| integer::binary(rewriter, *binary, operand?, op.operands[1]))
            .or_else(|| positions::binary(rewriter, *binary, operand?, op.operands[1], ty))
            .or_else(|| components::binary(rewriter, *binary, [operand?, op.operands[1]], ty)),
        OpKind::Compare(direction, _) => arithmetic::compare(rewriter, *direction, operand?, op.operands[1], ty)
            .or_else(|| integer::compare(rewriter, *direction, operand?, op.operands[1])),
        OpKind::Select => {
            arithmetic::select(rewriter, &op.operands).or_else(|| integer::select(rewriter, &op.operands))
        }
        OpKind::Complex => arithmetic::complex(rewriter, operand?, op.operands[1]),
        OpKind::Convert => {
            convert::convert(rewriter, operand?, ty).or_else(|| positions::convert(rewriter, operand?, ty))
        }
        OpKind::BitcastConvert => convert::bitcast(rewriter, operand?, ty),
        OpKind::ReducePrecision { exponent_bits, mantissa_bits } => {
            convert::reduce_precision(*exponent_bits, *mantissa_bits, operand?, ty)
        }
        OpKind::BroadcastInDim { dims } => shape::broadcast(rewriter, dims, operand?, ty),
        OpKind::Reshape => shape::reshape(rewriter, operand?, ty),
        OpKind::Transpose { permutation } => shape::transpose(rewriter, permutation, operand?, ty),
        OpKind::Reverse { dims } => shape::reverse(rewriter, dims, operand?, ty),
        OpKind::Concatenate { dim } => shape::concatenate(rewriter, *dim, &op.operands, ty),
        OpKind::Pad { low, high, interior } => {
            let edges = [&low[..], high, interior];
            shape::pad(rewriter, edges, operand?, op.operands[1], ty)
                .or_else(|| components::pad(rewriter, edges, operand?, op.operands[1], ty))
        }
        OpKind::Slice { start, limit, strides } => index::slice(rewriter, [start, limit, strides], operand?, ty),
        OpKind::DynamicSlice { sizes } => index::dynamic_slice(rewriter, sizes, &op.operands, ty),
        OpKind::DynamicUpdateSlice => index::dynamic_update_slice(rewriter, &op.operands, ty),
        OpKind::Scatter { dims, .. } => index::scatter(rewriter, op, dims),
        OpKind::Iota { dim } if ty.dims[*dim] == 1 => Some(Simpler::Constant(zeros(ty))),
        _ => None,
    }
}

/// The element of `value`, if it is a constant of equal elements.
fn splat<'r>(rewriter: &'r Rewriter<'_>, value: ValueId) -> Option<&'r [u8]> {
    let literal = rewriter.literal(value)?;
    literal.splat_element().or_else(|| (literal.ty().rank() == 0).then(|| literal.element(0)))
}

fn zeros(ty: &TensorType) -> Literal {
    Literal::splat(ty.clone(), vec![0; ty.element.byte_width()])
}
