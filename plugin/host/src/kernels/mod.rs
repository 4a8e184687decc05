//! Kernels by family. Control flow, custom calls and what passes take away have none.

use oxcall::Error;
use oxcall_hlo::{Func, Op};

use crate::kernel::Kernel;

/// The kernel of `op`, which is verified. Regions of `op` hold scalar ops only.
///
/// # Errors
/// UNIMPLEMENTED for what the engine cannot do, naming it.
pub fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let _ = func;
    Err(Error::unimplemented(format!("{} is not supported", op.kind.name())))
}
