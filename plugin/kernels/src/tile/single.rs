//! Kernels of one op.

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind, TensorType, ValueId};

use super::access::Access;
use super::build::Builder;
use crate::kernel::Kernel;
use crate::math;

/// Whether ops of `kind` run as tile programs, even single ones. A bitcast may join elements.
pub(crate) fn is_tiled(kind: &OpKind) -> bool {
    match kind {
        OpKind::BroadcastInDim { .. } | OpKind::Iota { .. } | OpKind::Constant(_) => true,
        OpKind::BitcastConvert => false,
        kind => math::is_element_wise(kind),
    }
}

/// The kernel of one op that [is tiled](is_tiled).
///
/// # Errors
/// UNIMPLEMENTED for other ops, and for types for which the op is not defined.
pub(crate) fn single(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let result = tensor(func, op.results[0])?;
    let operands = op.operands.iter().map(|&operand| tensor(func, operand)).collect::<Result<Vec<_>, _>>()?;
    let mut builder = Builder::new(result.count(), operands.iter().map(|ty| (ty.element, ty.count())));
    let value = match &op.kind {
        OpKind::Constant(literal) if literal.splat_element().is_some() => {
            builder.stored_constant(literal.element(0), result.element)
        }
        OpKind::Iota { dim } => builder.iota(&result.dims, *dim, result.element)?,
        OpKind::BroadcastInDim { dims } => {
            let stored = builder.stored_input(0, Access::broadcast(&operands[0].dims, &result.dims, dims));
            builder.stored_output(stored, result.element);
            return Ok(Box::new(builder.build(op.kind.name().to_owned())));
        }
        kind if math::is_element_wise(kind) => {
            let mut values = Vec::with_capacity(operands.len());
            for (index, operand) in operands.iter().enumerate() {
                values.push((builder.input(index, Access::same_or_scalar(operand, result)?), operand.element));
            }
            builder.op(kind, &values, result.element)?
        }
        kind => return Err(Error::unimplemented(format!("expected an element-wise op, got {}", kind.name()))),
    };
    builder.output(value, result.element);
    let mut program = builder.build(op.kind.name().to_owned());
    // A repeated operand would be read after its memory was written.
    let is_repeated = |index: usize| op.operands.iter().filter(|&&each| each == op.operands[index]).count() > 1;
    program.in_place.retain(|&(input, _)| !is_repeated(input));
    Ok(Box::new(program))
}

/// The type of a tensor value.
pub fn tensor(func: &Func, value: ValueId) -> Result<&TensorType, Error> {
    let ty = func.ty(value);
    ty.tensor().ok_or_else(|| Error::internal(format!("{ty} is not a tensor")))
}
