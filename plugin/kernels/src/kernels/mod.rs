//! Kernels by family. Control flow, custom calls and ops that passes remove have none; element-wise ops run as [tile
//! programs](crate::tile).

#[cfg(test)]
mod allocations;
pub mod combine;
mod convolution;
pub mod dot;
mod fft;
pub mod fill;
pub mod indexing;
mod linalg;
pub mod movement;
pub mod nest;
mod random;
pub mod reduce;
mod scalars;
mod sort;
#[cfg(test)]
#[allow(unsafe_code, reason = "runs kernels on buffers of its own")]
pub(crate) mod testing;
pub mod window;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind, TensorType};

use crate::kernel::Kernel;

/// The kernel of `op`, which is verified and whose regions hold scalar ops only.
///
/// # Errors
/// UNIMPLEMENTED for ops that the engine does not support, with their names.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    match op.kind {
        OpKind::Convolution(_) => convolution::make(op, func),
        OpKind::DotGeneral(_) => dot::make(op, func),
        OpKind::Fft { .. } => fft::make(op, func),
        OpKind::Cholesky { .. } | OpKind::TriangularSolve { .. } => linalg::make(op, func),
        OpKind::Transpose { .. }
        | OpKind::Slice { .. }
        | OpKind::DynamicSlice { .. }
        | OpKind::DynamicUpdateSlice
        | OpKind::Reverse { .. }
        | OpKind::Pad { .. }
        | OpKind::Concatenate { .. }
        | OpKind::Reshape
        | OpKind::BitcastConvert => movement::make(op, func),
        OpKind::Gather { .. } | OpKind::Scatter { .. } | OpKind::SelectAndScatter { .. } => indexing::make(op, func),
        OpKind::ReduceWindow { .. } => window::make(op, func),
        OpKind::Reduce { .. } => reduce::make(op, func),
        OpKind::Sort { .. } | OpKind::TopK { .. } => sort::make(op, func),
        OpKind::Rng(_) | OpKind::RngBitGenerator(_) => random::make(op, func),
        _ => Err(Error::unimplemented(format!("{} is not supported", op.kind.name()))),
    }
}

/// The types of the operands of `op`, then of its results: `N` tensors in all.
fn tensors<'a, const N: usize>(op: &Op, func: &'a Func) -> Result<[&'a TensorType; N], Error> {
    let types: Option<Vec<&TensorType>> =
        op.operands.iter().chain(&op.results).map(|&id| func.ty(id).tensor()).collect();
    types.and_then(|types| <[&TensorType; N]>::try_from(types).ok()).ok_or_else(|| {
        let (operands, results) = (op.operands.len(), op.results.len());
        Error::internal(format!(
            "{}: expected {N} operands and results, all of them tensors; got {operands} operands and {results} results",
            op.kind.name()
        ))
    })
}
