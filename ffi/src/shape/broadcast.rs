//! Shapes of calls whose handler broadcasts arguments by NumPy's rules.

use super::operands::{DimsList, Operand, assign};
use crate::descriptor::Param;
use crate::frame::expands;
use crate::{Error, Result};

/// The dimensions to which all arguments are broadcast. Their number has been checked.
pub(crate) fn broadcast<A: DimsList + ?Sized>(params: &'static [Param], args: &A) -> Result<Vec<i64>> {
    let mut dims: Vec<i64> = Vec::new();
    for index in 0..args.count() {
        let given = args.dims(index);
        let missing = given.len().saturating_sub(dims.len());
        dims.splice(0..0, given[..missing].iter().copied());
        for (dim, &given) in dims.iter_mut().rev().zip(given.iter().rev()) {
            match (*dim, given) {
                (1, given) => *dim = given,
                (dim, given) if dim == given || given == 1 => {}
                _ => return Err(no_common_shape(params, args)),
            }
        }
    }
    Ok(dims)
}

/// Checks that all results have one shape, to which each argument can be broadcast. Their numbers have been checked.
pub(super) fn check<A, R>(params: &'static [Param], args: &A, results: &R) -> Result<()>
where
    A: DimsList + ?Sized,
    R: DimsList + ?Sized,
{
    let (mut arguments, mut others) = (Vec::new(), Vec::new());
    for assigned in assign(params, args.count(), results.count()) {
        let member = |first: usize, index: usize| index - first;
        let (taken, given) = (assigned.args.clone(), assigned.results.clone());
        arguments.extend(
            taken
                .clone()
                .map(|index| (Operand::argument(assigned.param, member(taken.start, index)), args.dims(index))),
        );
        others.extend(
            given
                .clone()
                .map(|index| (Operand::result(assigned.param, member(given.start, index)), results.dims(index))),
        );
    }
    let Some(&(first, dims)) = others.first() else { return Ok(()) };
    if let Some((other, given)) = others.iter().find(|(_, given)| *given != dims) {
        return Err(Error::invalid_argument(format!(
            "{other} has shape {given:?}, but {first} has {dims:?}; all results have one shape"
        )));
    }
    match arguments.iter().find(|(_, given)| !expands(given, dims)) {
        None => Ok(()),
        Some((argument, given)) => Err(Error::invalid_argument(format!(
            "{argument} has shape {given:?}, which cannot be broadcast to that of {first}, {dims:?}; give dimensions \
             that are equal or 1"
        ))),
    }
}

#[cold]
fn no_common_shape<A: DimsList + ?Sized>(params: &'static [Param], args: &A) -> Error {
    let named = assign(params, args.count(), 0).flat_map(|assigned| {
        let first = assigned.args.start;
        assigned.args.map(move |index| (Operand::argument(assigned.param, index - first), index))
    });
    let listed: Vec<String> = named.map(|(operand, index)| format!("{operand} {:?}", args.dims(index))).collect();
    Error::invalid_argument(format!(
        "the shapes of {} cannot be broadcast to one; give dimensions that are equal or 1",
        listed.join(", ")
    ))
}
