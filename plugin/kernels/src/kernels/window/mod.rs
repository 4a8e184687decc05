//! Reductions of windows.
//!
//! A recognised function of one operand runs dimension by dimension: `pool`. Windows over all elements before or
//! after each one, as in `cumsum`, are running totals of any body: `scan`. All others run the body as a scalar
//! program on every window: `general`.

mod fused;
mod general;
mod line;
mod lines;
mod pool;
mod scan;
mod short;
#[cfg(test)]
mod tests;

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op, OpKind};

pub use self::scan::running_totals;
use super::movement::tensor;
use crate::kernel::Kernel;
use crate::scalar::{self, Body, Program};

/// The kernel of an op of this family.
pub(crate) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let OpKind::ReduceWindow { window } = &op.kind else {
        return Err(Error::internal(format!("expected reduce_window, got {}", op.kind.name())));
    };
    let (operand, result) = (tensor(func, op.operands[0])?, tensor(func, op.results[0])?);
    let elements: Vec<ElementType> =
        op.results.iter().map(|&value| tensor(func, value).map(|ty| ty.element)).collect::<Result<_, _>>()?;
    let body = &op.regions[0];
    let scan = scan::Shape::new(&operand.dims, window);
    if let (Some(Body::Binary(function)), &[element]) = (scalar::idiom(&func.values, body), &elements[..]) {
        let fast = match &scan {
            Some(shape) => scan::make(function, element, shape),
            None => pool::make(function, element, operand, result, window),
        };
        if let Some(kernel) = fast {
            return Ok(kernel);
        }
    }
    let program = Program::new(func, &body.params, &body.ops, &body.results)?;
    Ok(match scan {
        Some(shape) => Box::new(scan::GeneralScan::new(elements, shape, program)),
        None => Box::new(general::General::new(elements, operand, result, window, program)),
    })
}
