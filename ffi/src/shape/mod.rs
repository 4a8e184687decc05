//! Relations between shapes: what `#[dims(...)]` says, checked at every call and used to infer result shapes.
//!
//! A name in a pattern stands for one dimension, or, written `..name`, for a list of dimensions. Integer attributes
//! bind names first; then arguments do, in order, where a name stands alone. With all names bound, each pattern is
//! evaluated and compared. A parameter that is both argument and result takes part as an argument.
//!
//! Arguments of a handler that [expands](crate::descriptor::Traits::expands) them are broadcast instead: their patterns
//! are one list, which stands for the results' dimensions.

mod bindings;
mod broadcast;
mod check;
mod context;
mod infer;
mod operands;
mod pattern;
#[cfg(test)]
mod tests;

pub(crate) use broadcast::broadcast;
pub use check::check;
pub(crate) use context::literal;
pub use context::{FromAttr, ShapeContext};
pub use infer::infer;
pub(crate) use infer::result_dims;
pub use operands::DimsList;
pub use pattern::Pattern;

use crate::DType;

/// The dtype and the dimensions of an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The element type.
    pub dtype: DType,
    /// The dimensions, outermost first; empty for a scalar.
    pub dims: Vec<i64>,
}

impl Shape {
    /// A shape.
    pub fn new(dtype: DType, dims: impl Into<Vec<i64>>) -> Shape {
        Shape { dtype, dims: dims.into() }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}
