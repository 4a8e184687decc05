//! Calls of pointwise functions, and of functions of rows, as the ops that they compute.

use oxcall::host::{Expression, Kind, Opcode, Operation};
use oxcall::pointwise::Real;
use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, CustomCall, ElementType, Op, OpKind, TensorType, UnaryOp, ValueId,
};

use super::super::ir::{Rewrite, Rewriter};
use super::{reduce, splat};
use crate::custom_call::Shapes;

/// The expression of a call on operands and results of a type; `None` if it has to be called.
pub(crate) type Inline<'a> = dyn Fn(&CustomCall, &TensorType, Shapes<'_>) -> Option<Expression> + 'a;

/// The largest number of operations that take the place of a call. Larger functions are slow enough for a pass of their
/// own.
const MOST_OPERATIONS: usize = 512;

/// The ops that a call computes. Operands and results have one shape, or are without its last dimension, or operands
/// are broadcast to the results. `None` if it has to be called.
pub(super) fn expand(rewriter: &mut Rewriter<'_>, op: &Op, inline: &Inline<'_>) -> Option<Rewrite> {
    let OpKind::CustomCall(call) = &op.kind else { return None };
    let is_plain = !call.has_side_effect && call.called_computations.is_empty();
    if !is_plain || call.typed_attributes().is_none() {
        return None;
    }
    let tensors = |values: &[ValueId]| values.iter().map(|&value| rewriter.ty(value).tensor()).collect::<Option<_>>();
    let (taken, given): (Vec<&TensorType>, Vec<&TensorType>) = (tensors(&op.operands)?, tensors(&op.results)?);
    let is_broadcast = is_broadcast(&taken, &given);
    let row = if is_broadcast { given[0] } else { *taken.iter().max_by_key(|ty| ty.rank())? };
    let is_float = matches!(row.element, ElementType::F16 | ElementType::BF16 | ElementType::F32 | ElementType::F64);
    if !is_float || !is_row_major(call) {
        return None;
    }
    let number = TensorType::new(row.element, row.dims[..row.rank().saturating_sub(1)].iter().copied());
    let are_rows = |values: &[ValueId]| -> Option<Vec<bool>> {
        let is_row = |&value: &ValueId| match rewriter.ty(value).tensor()? {
            ty if ty == row => Some(true),
            ty => (*ty == number).then_some(false),
        };
        values.iter().map(is_row).collect()
    };
    let broadcast = is_broadcast.then(|| {
        let expression = inline(call, row, Shapes::Broadcast([taken.len(), given.len()]))?;
        Some((expression, vec![true; taken.len()], vec![true; given.len()]))
    });
    let (expression, operands, results) = match broadcast.flatten() {
        Some(found) => found,
        None => {
            let (operands, results) = (are_rows(&op.operands)?, are_rows(&op.results)?);
            (inline(call, row, Shapes::Rows([&operands, &results]))?, operands, results)
        }
    };
    if expression.operations().len() > MOST_OPERATIONS {
        return None;
    }
    // As the handler does: halves become `F32`, and are rounded once.
    let (element, row) = (row.element, row.clone());
    let wide = if element == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
    let mut emitter = Emitter { rewriter, row: row.with_element(wide), number: number.with_element(wide) };
    let operands = op.operands.iter().zip(operands);
    let operands = operands.map(|(&operand, is_row)| {
        let array = emitter.rewriter.convert(operand, wide);
        if is_row {
            let (rank, own) = (emitter.row.rank(), emitter.rewriter.tensor(array).rank());
            let dims: Vec<usize> = (rank - own..rank).collect();
            return Value::Array(emitter.rewriter.broadcast(array, &dims, &emitter.row), true);
        }
        Value::Array(array, false)
    });
    let values = operands.collect();
    let values = emitter.emit(&expression, values).into_iter().zip(results);
    let results = values.map(|(value, is_row)| {
        let value = emitter.array(value, is_row);
        emitter.rewriter.convert(value, element)
    });
    Some(Rewrite::With(results.collect()))
}

/// Whether operands have to be broadcast to results, which have one type, by NumPy's rules.
fn is_broadcast(operands: &[&TensorType], results: &[&TensorType]) -> bool {
    let Some((first, others)) = results.split_first() else { return false };
    let expands = |ty: &TensorType| {
        let mut pairs = ty.dims.iter().rev().zip(first.dims.iter().rev());
        ty.element == first.element && ty.rank() <= first.rank() && pairs.all(|(a, b)| a == b || *a == 1)
    };
    others.iter().all(|ty| ty == first)
        && operands.iter().any(|ty| ty != first)
        && operands.iter().all(|ty| expands(ty))
}

/// Whether all buffers are in row-major order.
fn is_row_major(call: &CustomCall) -> bool {
    let mut layouts = call.operand_layouts.iter().chain(&call.result_layouts).flatten();
    layouts.all(|layout| layout.iter().rev().copied().eq(0..layout.len()))
}

/// A value of an expression.
#[derive(Clone, Copy)]
enum Value {
    Constant(f64),
    /// Whether it is a row or a number of one.
    Array(ValueId, bool),
}

impl Value {
    fn is_row(self) -> bool {
        matches!(self, Value::Array(_, true))
    }
}

struct Emitter<'r, 'f> {
    rewriter: &'r mut Rewriter<'f>,
    /// The types of rows and of their numbers, with the element type of the computation.
    row: TensorType,
    number: TensorType,
}

impl Emitter<'_, '_> {
    fn ty(&self, is_row: bool) -> &TensorType {
        if is_row { &self.row } else { &self.number }
    }

    /// A value as an array, of rows or of their numbers.
    fn array(&mut self, value: Value, is_row: bool) -> ValueId {
        let ty = self.ty(is_row).clone();
        match value {
            Value::Constant(value) => splat(self.rewriter, &ty, value),
            Value::Array(value, _) => {
                let dims: Vec<usize> = (0..self.rewriter.tensor(value).rank()).collect();
                self.rewriter.broadcast(value, &dims, &ty)
            }
        }
    }

    /// The results for some operands.
    fn emit(&mut self, expression: &Expression, operands: Vec<Value>) -> Vec<Value> {
        let mut values = operands;
        for operation in expression.operations() {
            let args: Vec<Value> = operation.args().iter().map(|&arg| values[arg as usize]).collect();
            values.push(self.operation(operation, &args));
        }
        expression.results().iter().map(|&result| values[result as usize]).collect()
    }

    fn operation(&mut self, operation: &Operation, args: &[Value]) -> Value {
        let opcode = operation.opcode().expect("expressions have known operations");
        let kind = match (opcode, args) {
            (Opcode::Constant, _) => return Value::Constant(operation.constant),
            (Opcode::Count, _) => return Value::Constant(self.row.dims.last().map_or(1.0, |&size| size as f64)),
            (Opcode::Sum, [row]) => return self.reduce(*row, BinaryOp::Add, 0.0),
            (Opcode::Max, [row]) => return self.reduce(*row, BinaryOp::Maximum, f64::NEG_INFINITY),
            (Opcode::MulAdd, [a, b, c]) => {
                let product = self.element_wise(OpKind::Binary(BinaryOp::Multiply), Kind::Number, &[*a, *b]);
                return self.element_wise(OpKind::Binary(BinaryOp::Add), Kind::Number, &[product, *c]);
            }
            (Opcode::LogAddExp, args) => {
                let formula = Expression::trace(|[a, b]| [a.log_add_exp(b)]).expect("a short formula");
                return self.emit(&formula, args.to_vec())[0];
            }
            _ => kind(opcode),
        };
        self.element_wise(kind, opcode.signature().1, args)
    }

    fn element_wise(&mut self, kind: OpKind, of: Kind, args: &[Value]) -> Value {
        let is_row = args.iter().any(|arg| arg.is_row());
        let args: Vec<ValueId> = args.iter().map(|&arg| self.array(arg, is_row)).collect();
        let ty = self.ty(is_row);
        let ty = if of == Kind::Mask { ty.with_element(ElementType::Pred) } else { ty.clone() };
        Value::Array(self.rewriter.emit(kind, &args, ty), is_row)
    }

    /// A reduction of a row.
    fn reduce(&mut self, row: Value, op: BinaryOp, start: f64) -> Value {
        let row = self.array(row, true);
        let last = self.row.rank() - 1;
        Value::Array(reduce(self.rewriter, row, op, start, vec![last]), false)
    }
}

/// The op that computes an element-wise operation.
fn kind(opcode: Opcode) -> OpKind {
    let compare = |direction| OpKind::Compare(direction, ComparisonType::Float);
    match opcode {
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
        Opcode::Constant | Opcode::Count | Opcode::Sum | Opcode::Max | Opcode::MulAdd | Opcode::LogAddExp => {
            unreachable!("not one element-wise op")
        }
    }
}
