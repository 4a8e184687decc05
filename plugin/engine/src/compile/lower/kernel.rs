//! Kernels of ops that run alone.

use oxcall::Error;
use oxcall_hlo::{Func, Op};

use crate::kernel::Kernel;
use crate::{kernels, tile};

/// The kernel of `op`, which is verified. Regions of `op` hold scalar ops only.
///
/// # Errors
/// UNIMPLEMENTED for what the engine cannot do, naming it.
pub(crate) fn single(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    if tile::is_tiled(&op.kind) { tile::single(op, func) } else { kernels::make(op, func) }
}
