//! Decomposition of ops without kernels into ops that have them; element-wise ops get operands of one shape.

mod approx_top_k;
mod batch_norm;
mod builder_call;
mod map;
mod narrow;
mod pointwise;
mod product;

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ElementType, Literal, Module, Op, OpKind, Region, TensorType, Type, ValueId};

pub(crate) use self::pointwise::Inline;
use super::ir::{Rewrite, Rewriter, rewrite};

/// Expands batch norms, maps, sizes of dimensions, the ids of a process that runs alone, shardings, bounds of complex
/// numbers, and reductions of narrow ones. Makes explicit the scalars that `select` and `clamp` broadcast and the
/// conversions that products and scatters imply. Products that sum nothing become element-wise, and vectors of batches
/// that are columns rows. Calls of linear algebra that XLA would expand become typed, those of approximate maxima
/// `top_k`, and calls of pointwise functions and of functions of rows the ops that `inline` says.
///
/// # Errors
/// UNIMPLEMENTED for maps whose body is not element-wise.
pub(crate) fn decompose(module: &mut Module, alone: bool, inline: &Inline<'_>) -> Result<(), Error> {
    // Several processes run the regions of manual computations.
    let alone = alone && !has_manual_computation(&module.main().body);
    rewrite(module, |rewriter, op| match op.kind {
        OpKind::BatchNormInference { epsilon, feature } => Ok(batch_norm::inference(rewriter, &op, epsilon, feature)),
        OpKind::BatchNormTraining { epsilon, feature } => Ok(batch_norm::training(rewriter, &op, epsilon, feature)),
        OpKind::BatchNormGrad { epsilon, feature } => Ok(batch_norm::gradient(rewriter, &op, epsilon, feature)),
        OpKind::Map { .. } => map::expand(rewriter, op),
        OpKind::GetDimensionSize { dim } => {
            let size = rewriter.tensor(op.operands[0]).dims[dim];
            let size = i32::try_from(size)
                .map_err(|_| Error::out_of_range(format!("dimension {dim} has size {size}, which exceeds an i32")))?;
            Ok(scalar(rewriter, ElementType::S32, size.to_le_bytes()))
        }
        // The engine computes whole arrays, whichever parts of them the devices hold.
        OpKind::ShardingConstraint(_) => Ok(Rewrite::With(op.operands.into())),
        OpKind::ShardingGroup { .. } => Ok(Rewrite::With(Default::default())),
        OpKind::PartitionId | OpKind::ReplicaId if alone => Ok(scalar(rewriter, ElementType::U32, 0u32.to_le_bytes())),
        OpKind::Select => Ok(Rewrite::Keep(spread(rewriter, op, &[0]))),
        OpKind::Clamp if rewriter.tensor(op.results[0]).element.is_complex() => Ok(clamp_complex(rewriter, op)),
        OpKind::Clamp => Ok(Rewrite::Keep(spread(rewriter, op, &[0, 2]))),
        OpKind::DotGeneral(ref dims) => {
            if let Some(product) = product::expand(rewriter, &op, dims) {
                return Ok(product);
            }
            let rows = product::of_rows(rewriter, &op, dims);
            Ok(float_product(rewriter, rows.unwrap_or(op)))
        }
        OpKind::Convolution(_) => Ok(float_product(rewriter, op)),
        OpKind::Reduce { .. } | OpKind::ReduceWindow { .. } => {
            Ok(narrow::widened(rewriter, &op).unwrap_or(Rewrite::Keep(op)))
        }
        OpKind::AllReduce(_) | OpKind::ReduceScatter { .. } | OpKind::CollectiveReduce(_) => {
            // The operands with a result: roots follow them.
            let pairs = (0..op.results.len()).map(|index| (index, index));
            Ok(Rewrite::Keep(promote(rewriter, op, pairs)))
        }
        OpKind::Scatter { .. } => {
            // Inputs, indices, updates.
            let count = op.results.len();
            let pairs = (0..count).flat_map(|index| [(index, index), (count + 1 + index, index)]);
            Ok(Rewrite::Keep(promote(rewriter, op, pairs)))
        }
        OpKind::CustomCall(_) => {
            if let Some(top_k) = approx_top_k::expand(rewriter, &op) {
                return Ok(top_k);
            }
            let op = typed_call(rewriter, op);
            Ok(pointwise::expand(rewriter, &op, inline).unwrap_or(Rewrite::Keep(op)))
        }
        _ => Ok(Rewrite::Keep(op)),
    })?;
    Ok(())
}

fn has_manual_computation(region: &Region) -> bool {
    let mut ops = region.ops.iter();
    ops.any(|op| matches!(op.kind, OpKind::ManualComputation(_)) || op.regions.iter().any(has_manual_computation))
}

/// A call of linear algebra as a typed call.
fn typed_call(rewriter: &Rewriter<'_>, mut op: Op) -> Op {
    let matrix = op.operands.first().and_then(|&operand| rewriter.ty(operand).tensor());
    if let (OpKind::CustomCall(call), Some(matrix)) = (&mut op.kind, matrix) {
        builder_call::make_typed(call, matrix.element);
    }
    op
}

fn scalar(rewriter: &mut Rewriter<'_>, element: ElementType, value: [u8; 4]) -> Rewrite {
    Rewrite::one(rewriter.constant(Literal::dense(TensorType::scalar(element), value)))
}

/// Converts operands to the element type of a result, in which the body of an op combines them: pairs of both.
fn promote(rewriter: &mut Rewriter<'_>, mut op: Op, pairs: impl Iterator<Item = (usize, usize)>) -> Op {
    for (index, result) in pairs {
        let element = rewriter.tensor(op.results[result]).element;
        op.operands[index] = rewriter.convert(op.operands[index], element);
    }
    op
}

/// Broadcasts the operands `which` to the shape of the result, if they are scalars.
fn spread(rewriter: &mut Rewriter<'_>, mut op: Op, which: &[usize]) -> Op {
    let shape = rewriter.tensor(op.results[0]).clone();
    for &index in which {
        let operand = op.operands[index];
        if rewriter.tensor(operand).rank() == 0 {
            op.operands[index] = rewriter.broadcast(operand, &[], &shape);
        }
    }
    op
}

/// Complex numbers are ordered by their real parts, then their imaginary parts, in `maximum` and `minimum` only.
fn clamp_complex(rewriter: &mut Rewriter<'_>, op: Op) -> Rewrite {
    let op = spread(rewriter, op, &[0, 2]);
    let ty = rewriter.tensor(op.results[0]).clone();
    let (low, operand, high) = (op.operands[0], op.operands[1], op.operands[2]);
    let bounded = rewriter.emit(OpKind::Binary(BinaryOp::Maximum), &[operand, low], ty.clone());
    Rewrite::one(rewriter.emit(OpKind::Binary(BinaryOp::Minimum), &[bounded, high], ty))
}

/// Converts the operands of integer products with a float result to floats.
fn float_product(rewriter: &mut Rewriter<'_>, mut op: Op) -> Rewrite {
    let element = rewriter.tensor(op.results[0]).element;
    for operand in &mut op.operands {
        if element.is_float() && rewriter.tensor(*operand).element.is_integer() {
            *operand = rewriter.convert(*operand, element);
        }
    }
    Rewrite::Keep(op)
}

/// The body of a reduction by one op.
fn body(rewriter: &mut Rewriter<'_>, op: BinaryOp, element: ElementType) -> Region {
    let [lhs, rhs, total] = std::array::from_fn(|_| rewriter.value(Type::Tensor(TensorType::scalar(element))));
    let (operands, results, location) = (vec![lhs, rhs], vec![total], rewriter.location());
    let body = Op { kind: OpKind::Binary(op), operands, results, regions: Vec::new(), location };
    Region { params: vec![lhs, rhs], ops: vec![body], results: vec![total] }
}

/// A value reduced over dimensions by an op that can be done in any order.
fn reduce(rewriter: &mut Rewriter<'_>, value: ValueId, op: BinaryOp, start: f64, dims: Vec<usize>) -> ValueId {
    let ty = rewriter.tensor(value).clone();
    let start = splat(rewriter, &TensorType::scalar(ty.element), start);
    let body = body(rewriter, op, ty.element);
    let location = rewriter.location();
    let kept = ty.dims.iter().enumerate().filter(|(dim, _)| !dims.contains(dim));
    let kept: Vec<usize> = kept.map(|(_, &size)| size).collect();
    let result = rewriter.value(TensorType::new(ty.element, kept).into());
    let (operands, results) = (vec![value, start], vec![result]);
    rewriter.push(Op { kind: OpKind::Reduce { dims }, operands, results, regions: vec![body], location });
    result
}

/// A constant of shape `ty` whose elements are all `value`, rounded to its element type, which is `F32` or `F64`.
fn splat(rewriter: &mut Rewriter<'_>, ty: &TensorType, value: f64) -> ValueId {
    let literal = match ty.element {
        ElementType::F64 => Literal::splat(ty.clone(), value.to_le_bytes()),
        _ => Literal::splat(ty.clone(), (value as f32).to_le_bytes()),
    };
    rewriter.constant(literal)
}
