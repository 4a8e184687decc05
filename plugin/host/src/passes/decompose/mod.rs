//! Ops that the engine has no kernel for become ops that it has, and element-wise ops get operands of one shape.

mod batch_norm;
mod map;

use oxcall::Error;
use oxcall_hlo::{ElementType, Literal, Module, Op, OpKind, TensorType, ValueId};

use super::ir::{Rewrite, Rewriter, rewrite};

/// Takes away batch norms, maps, sizes of dimensions and ids of devices, and writes out the scalars that `select` and
/// `clamp` spread over tensors.
///
/// # Errors
/// UNIMPLEMENTED for maps whose body is not element-wise.
pub(crate) fn decompose(module: &mut Module) -> Result<(), Error> {
    rewrite(module, |rewriter, op| match op.kind {
        OpKind::BatchNormInference { epsilon, feature } => Ok(batch_norm::inference(rewriter, &op, epsilon, feature)),
        OpKind::BatchNormTraining { epsilon, feature } => Ok(batch_norm::training(rewriter, &op, epsilon, feature)),
        OpKind::BatchNormGrad { epsilon, feature } => Ok(batch_norm::gradient(rewriter, &op, epsilon, feature)),
        OpKind::Map { .. } => map::expand(rewriter, op),
        OpKind::GetDimensionSize { dim } => {
            let size = rewriter.tensor(op.operands[0]).dims[dim];
            let size = i32::try_from(size)
                .map_err(|_| Error::out_of_range(format!("dimension {dim} has size {size}, which no i32 holds")))?;
            Ok(scalar(rewriter, ElementType::S32, size.to_le_bytes()))
        }
        // The program runs on one device.
        OpKind::PartitionId | OpKind::ReplicaId => Ok(scalar(rewriter, ElementType::U32, 0u32.to_le_bytes())),
        OpKind::Select => Ok(spread(rewriter, op, &[0])),
        OpKind::Clamp => Ok(spread(rewriter, op, &[0, 2])),
        _ => Ok(Rewrite::Keep(op)),
    })?;
    Ok(())
}

fn scalar(rewriter: &mut Rewriter<'_>, element: ElementType, value: [u8; 4]) -> Rewrite {
    Rewrite::one(rewriter.constant(Literal::dense(TensorType::scalar(element), value)))
}

/// Gives the operands `which` the shape of the result, if they are scalars.
fn spread(rewriter: &mut Rewriter<'_>, mut op: Op, which: &[usize]) -> Rewrite {
    let shape = rewriter.tensor(op.results[0]).clone();
    for &index in which {
        let operand = op.operands[index];
        if rewriter.tensor(operand).rank() == 0 {
            op.operands[index] = rewriter.broadcast(operand, &[], &shape);
        }
    }
    Rewrite::Keep(op)
}

/// A constant of shape `ty` whose elements are all `value`, rounded to its element type, which is `F32` or `F64`.
fn splat(rewriter: &mut Rewriter<'_>, ty: &TensorType, value: f64) -> ValueId {
    let literal = match ty.element {
        ElementType::F64 => Literal::splat(ty.clone(), value.to_le_bytes()),
        _ => Literal::splat(ty.clone(), (value as f32).to_le_bytes()),
    };
    rewriter.constant(literal)
}
