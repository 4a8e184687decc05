//! Parts that passes share: rewriting in program order, copies of regions, uses of values.

mod clone;
mod effects;
mod rewrite;
mod scalars;
mod walk;

pub(crate) use clone::{Mapping, clone_op};
pub(crate) use effects::{has_effect, is_elementwise, is_pure};
pub(crate) use rewrite::{Rewrite, Rewriter, Values, rewrite};
pub(crate) use scalars::{over_arrays, unfit_op};
pub(crate) use walk::{count_ops, op_error, remap_operands, shift};
