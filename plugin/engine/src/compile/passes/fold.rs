//! Constant folding.

use oxcall_hlo::{Func, Literal, Op, OpKind, Region, TensorType, Type, ValueId};

use super::ir::{Rewriter, is_elementwise, is_pure};

/// Evaluates a function of one op without regions on constants; `None` if it cannot.
pub(crate) type Evaluate<'a> = dyn Fn(&Func, &[Literal]) -> Option<Vec<Literal>> + 'a;

/// The largest constant that folding creates, in bytes.
const MAX_RESULT: usize = 64 << 10;
/// The largest operands that folding reads, in bytes.
const MAX_OPERANDS: usize = 1 << 20;

/// The constant that `op` computes; its only result has type `ty`. Element-wise ops of equal elements give any number
/// of equal elements; iotas stay.
pub(super) fn fold(rewriter: &Rewriter<'_>, op: &Op, ty: &TensorType, evaluate: &Evaluate<'_>) -> Option<Literal> {
    // Ops that repeat elements cost nothing where they are used; here they would cost memory.
    let stays = matches!(op.kind, OpKind::OptimizationBarrier | OpKind::BroadcastInDim { .. });
    if op.operands.is_empty() || !op.regions.is_empty() || !is_pure(op) || stays {
        return None;
    }
    let literals: Vec<&Literal> = op.operands.iter().map(|&value| rewriter.literal(value)).collect::<Option<_>>()?;
    let elements = |literals: &[&Literal]| -> Option<Vec<Literal>> {
        let scalar = |literal: &&Literal| {
            Some(Literal::dense(TensorType::scalar(literal.ty().element), literal.splat_element()?))
        };
        literals.iter().map(scalar).collect()
    };
    if ty.rank() > 0
        && is_elementwise(&op.kind)
        && let Some(elements) = elements(&literals)
    {
        let element = call(op, &elements, &TensorType::scalar(ty.element), evaluate)?;
        return Some(Literal::splat(ty.clone(), element.element(0)));
    }
    let read: usize = literals.iter().map(|literal| literal.ty().byte_size()).fold(0, usize::saturating_add);
    if ty.byte_size() > MAX_RESULT || read > MAX_OPERANDS {
        return None;
    }
    let literals: Vec<Literal> = literals.into_iter().cloned().collect();
    call(op, &literals, ty, evaluate)
}

/// Evaluates a function that contains only `op`.
fn call(op: &Op, operands: &[Literal], result: &TensorType, evaluate: &Evaluate<'_>) -> Option<Literal> {
    let params: Vec<ValueId> = (0..operands.len() as u32).map(ValueId).collect();
    let results = vec![ValueId(operands.len() as u32)];
    let mut values: Vec<Type> = operands.iter().map(|literal| literal.ty().clone().into()).collect();
    values.push(result.clone().into());
    let op = Op {
        kind: op.kind.clone(),
        operands: params.clone(),
        results: results.clone(),
        regions: Vec::new(),
        location: op.location,
    };
    let func = Func {
        name: "fold".into(),
        public: true,
        param_attributes: vec![Vec::new(); params.len()],
        result_attributes: vec![Vec::new()],
        body: Region { params, ops: vec![op], results },
        values,
    };
    let literal = evaluate(&func, operands)?.pop()?;
    (literal.ty() == result).then_some(literal)
}
