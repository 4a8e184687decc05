//! Calls of pointwise functions as the ops that they compute.

use oxcall::host::{Expression, Kind, Opcode, Operation};
use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, CustomCall, ElementType, Op, OpKind, TensorType, UnaryOp, ValueId,
};

use super::super::ir::{Rewrite, Rewriter};
use super::splat;

/// The expression of a call on operands and results of an element type, of which there are so many; `None` if it has to
/// be called.
pub(crate) type Inline<'a> = dyn Fn(&CustomCall, ElementType, [usize; 2]) -> Option<Expression> + 'a;

/// The largest number of operations that take the place of a call. Larger functions are slow enough for a pass of their
/// own.
const MOST_OPERATIONS: usize = 512;

/// The ops that a call computes, with operands and results of one shape; `None` if it has to be called.
pub(super) fn expand(rewriter: &mut Rewriter<'_>, op: &Op, inline: &Inline<'_>) -> Option<Rewrite> {
    let OpKind::CustomCall(call) = &op.kind else { return None };
    let is_plain = !call.has_side_effect && call.called_computations.is_empty();
    if !is_plain || call.typed_attributes().is_none() || op.operands.is_empty() {
        return None;
    }
    let ty = rewriter.ty(op.operands[0]).tensor()?.clone();
    let is_float = matches!(ty.element, ElementType::F16 | ElementType::BF16 | ElementType::F32 | ElementType::F64);
    let mut values = op.operands.iter().chain(&op.results);
    if !is_float || !values.all(|&value| rewriter.ty(value).tensor() == Some(&ty)) || !is_row_major(call) {
        return None;
    }
    let expression = inline(call, ty.element, [op.operands.len(), op.results.len()])?;
    if expression.operations().len() > MOST_OPERATIONS {
        return None;
    }
    Some(emit(rewriter, op, &ty, &expression))
}

/// Whether all buffers are in row-major order.
fn is_row_major(call: &CustomCall) -> bool {
    let mut layouts = call.operand_layouts.iter().chain(&call.result_layouts).flatten();
    layouts.all(|layout| layout.iter().rev().copied().eq(0..layout.len()))
}

/// As the handler does: halves become `F32`, and are rounded once.
fn emit(rewriter: &mut Rewriter<'_>, op: &Op, ty: &TensorType, expression: &Expression) -> Rewrite {
    let wide = if ty.element == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
    let numbers = ty.with_element(wide);
    let mut values = Vec::with_capacity(expression.operands() + expression.operations().len());
    values.extend(op.operands.iter().map(|&operand| rewriter.convert(operand, wide)));
    for operation in expression.operations() {
        let value = match kind(operation) {
            None => splat(rewriter, &numbers, operation.constant),
            Some((opcode, kind)) => {
                let args: Vec<ValueId> = operation.args().iter().map(|&arg| values[arg as usize]).collect();
                let element = if opcode.signature().1 == Kind::Mask { ElementType::Pred } else { wide };
                rewriter.emit(kind, &args, ty.with_element(element))
            }
        };
        values.push(value);
    }
    let result = |&result: &u32| rewriter.convert(values[result as usize], ty.element);
    Rewrite::With(expression.results().iter().map(result).collect())
}

/// The op that computes an operation; `None` for a constant.
fn kind(operation: &Operation) -> Option<(Opcode, OpKind)> {
    let opcode = operation.opcode().expect("expressions have known operations");
    let compare = |direction| OpKind::Compare(direction, ComparisonType::Float);
    let kind = match opcode {
        Opcode::Constant => return None,
        Opcode::Add => OpKind::Binary(BinaryOp::Add),
        Opcode::Subtract => OpKind::Binary(BinaryOp::Subtract),
        Opcode::Multiply => OpKind::Binary(BinaryOp::Multiply),
        Opcode::Divide => OpKind::Binary(BinaryOp::Divide),
        Opcode::Negate => OpKind::Unary(UnaryOp::Negate),
        Opcode::Less => compare(ComparisonDirection::Lt),
        Opcode::LessEqual => compare(ComparisonDirection::Le),
        Opcode::Equal => compare(ComparisonDirection::Eq),
        Opcode::And => OpKind::Binary(BinaryOp::And),
        Opcode::Or => OpKind::Binary(BinaryOp::Or),
        Opcode::Not => OpKind::Unary(UnaryOp::Not),
        Opcode::Select => OpKind::Select,
        Opcode::Maximum => OpKind::Binary(BinaryOp::Maximum),
        Opcode::Minimum => OpKind::Binary(BinaryOp::Minimum),
        Opcode::Abs => OpKind::Unary(UnaryOp::Abs),
        Opcode::Sign => OpKind::Unary(UnaryOp::Sign),
        Opcode::Floor => OpKind::Unary(UnaryOp::Floor),
        Opcode::Ceil => OpKind::Unary(UnaryOp::Ceil),
        Opcode::Round => OpKind::Unary(UnaryOp::RoundNearestEven),
        Opcode::Sqrt => OpKind::Unary(UnaryOp::Sqrt),
        Opcode::Exp => OpKind::Unary(UnaryOp::Exponential),
        Opcode::ExpM1 => OpKind::Unary(UnaryOp::ExponentialMinusOne),
        Opcode::Ln => OpKind::Unary(UnaryOp::Log),
        Opcode::Ln1p => OpKind::Unary(UnaryOp::LogPlusOne),
        Opcode::Logistic => OpKind::Unary(UnaryOp::Logistic),
        Opcode::Tanh => OpKind::Unary(UnaryOp::Tanh),
        Opcode::Erf => OpKind::Unary(UnaryOp::Erf),
        Opcode::Erfc => OpKind::Unary(UnaryOp::Erfc),
        Opcode::Sin => OpKind::Unary(UnaryOp::Sine),
        Opcode::Cos => OpKind::Unary(UnaryOp::Cosine),
        Opcode::Tan => OpKind::Unary(UnaryOp::Tan),
        Opcode::Atan2 => OpKind::Binary(BinaryOp::Atan2),
        Opcode::Power => OpKind::Binary(BinaryOp::Power),
        Opcode::Lgamma => OpKind::Unary(UnaryOp::Lgamma),
        Opcode::Digamma => OpKind::Unary(UnaryOp::Digamma),
        Opcode::Polygamma => OpKind::Binary(BinaryOp::Polygamma),
    };
    Some((opcode, kind))
}
