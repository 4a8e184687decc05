//! Reductions along dimensions.
//!
//! One operand and a recognised body: `fold`, `columns` of elements below each other, and `few` elements in the
//! machine code of loops. `argmax` and `argmin`: `arg`, and `positions`, by `keys`, where the indices are those along a
//! dimension. All others run the body as a scalar program, element by element: `general`.

mod arg;
mod columns;
mod few;
mod fold;
mod general;
mod keys;
mod layout;
mod loops;
mod narrow;
mod pairwise;
mod positions;
mod rows;
#[cfg(test)]
mod tests;

pub use few::are_few;
pub use loops::{ColumnFold, RowFold, are_tiles, column_fold, row_fold};
pub(crate) use loops::{Loops, fold_rows};
pub(crate) use narrow::{LANES, fold_lanes};

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind};

use self::layout::Layout;
use super::movement::tensor;
use crate::kernel::Kernel;
use crate::scalar::{self, Body};

/// The kernel of an op of this family.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let OpKind::Reduce { dims } = &op.kind else {
        return Err(Error::internal(format!("expected reduce, got {}", op.kind.name())));
    };
    let operand = tensor(func, op.operands[0])?;
    let layout = Layout::new(&operand.dims, dims);
    let elements = |values: &[oxcall_hlo::ValueId]| -> Result<Vec<_>, Error> {
        values.iter().map(|&value| tensor(func, value).map(|ty| ty.element)).collect()
    };
    let elements = elements(&op.operands[..op.results.len()])?;
    let recognised = scalar::idiom(&func.values, &op.regions[0]);
    let fast = match (recognised, &elements[..]) {
        (Some(Body::Binary(function)), &[element]) => fold::make(function, element, &layout),
        (Some(Body::ArgMax), &[value, index]) => arg::make(true, value, index, &layout),
        (Some(Body::ArgMin), &[value, index]) => arg::make(false, value, index, &layout),
        _ => None,
    };
    match fast {
        Some(kernel) => Ok(kernel),
        None => general::make(func, &op.regions[0], elements, layout),
    }
}

/// The kernel of an `argmax` or `argmin` along `dim` whose indices are the positions along it, if there is one. Its
/// operands are those of `op` without the indices.
///
/// # Errors
/// INTERNAL if the op is not verified.
pub fn extreme_of_positions(op: &Op, func: &Func, dim: usize) -> Result<Option<Box<dyn Kernel>>, Error> {
    let (OpKind::Reduce { dims }, [region]) = (&op.kind, &op.regions[..]) else { return Ok(None) };
    let largest = match scalar::idiom(&func.values, region) {
        Some(Body::ArgMax) => true,
        Some(Body::ArgMin) => false,
        _ => return Ok(None),
    };
    let (values, indices) = (tensor(func, op.operands[0])?, tensor(func, op.operands[1])?);
    let product = |dims: &[usize]| dims.iter().product();
    let (outer, inner) = (product(&values.dims[..dim]), product(&values.dims[dim + 1..]));
    let shape = positions::Shape { outer, row: values.dims[dim], inner };
    Ok(if dims[..] == [dim] { positions::make(largest, values.element, indices.element, shape) } else { None })
}
