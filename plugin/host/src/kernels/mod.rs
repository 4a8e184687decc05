//! Kernels by family. Control flow, custom calls and what passes take away have none.

mod movement;
#[cfg(test)]
pub(crate) mod testing;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind};

use crate::kernel::Kernel;

/// The kernel of `op`, which is verified. Regions of `op` hold scalar ops only.
///
/// # Errors
/// UNIMPLEMENTED for what the engine cannot do, naming it.
pub fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    match op.kind {
        OpKind::Transpose { .. }
        | OpKind::Slice { .. }
        | OpKind::Reverse { .. }
        | OpKind::Pad { .. }
        | OpKind::Concatenate { .. }
        | OpKind::Reshape
        | OpKind::BitcastConvert => movement::make(op, func),
        _ => Err(Error::unimplemented(format!("{} is not supported", op.kind.name()))),
    }
}
