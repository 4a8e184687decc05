//! Kernels of ops that run alone.

use oxcall::Error;
use oxcall_hlo::{Func, Op};

use crate::kernel::Kernel;
use crate::{kernels, tile};

/// The kernel of `op`, which is verified and whose regions hold scalar ops only.
///
/// # Errors
/// UNIMPLEMENTED if the engine has no kernel for it; the text names the reason.
pub fn single(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    if tile::is_tiled(&op.kind) { tile::single(op, func) } else { kernels::make(op, func) }
}
