//! The check of a call's shapes.

use super::Pattern;
use super::bindings::{Bindings, Mismatch};
use super::broadcast;
use super::operands::{Assigned, DimsList, Operand, assign, check_counts};
use crate::descriptor::{DimPattern, Handler, Param, Role};
use crate::{Error, Result};

/// Checks the dimensions of a call's arguments and results against the `#[dims(...)]` patterns of `handler`.
///
/// `ints` are the values of integer attributes, defaults included. Nothing is allocated when all is well, unless more
/// than a dozen names are bound.
///
/// # Errors
/// `INVALID_ARGUMENT` if the number of arguments or results, or a dimension is not as declared; if a name has no value;
/// and if an expression overflows, divides by zero, or is negative.
pub fn check<A, R>(handler: &Handler, args: &A, results: &R, ints: &[(&str, i64)]) -> Result<()>
where
    A: DimsList + ?Sized,
    R: DimsList + ?Sized,
{
    check_all(handler, args, results, ints).map_err(|error| error.context(handler.name))
}

fn check_all<A, R>(handler: &Handler, args: &A, results: &R, ints: &[(&str, i64)]) -> Result<()>
where
    A: DimsList + ?Sized,
    R: DimsList + ?Sized,
{
    let params = handler.params;
    check_counts(params, args.count(), results.count())?;
    if handler.traits.expands() {
        return broadcast::check(params, args, results);
    }
    let bindings = bind_args(handler, args, ints)?;
    check_results(params, args, results, &bindings)
}

/// Checks the results, whose number is right.
pub(super) fn check_results<A, R>(
    params: &'static [Param],
    args: &A,
    results: &R,
    bindings: &Bindings<'_>,
) -> Result<()>
where
    A: DimsList + ?Sized,
    R: DimsList + ?Sized,
{
    for Assigned { param, args: arg_indices, results: indices } in assign(params, args.count(), results.count()) {
        for (member, index) in indices.enumerate() {
            let (operand, dims) = (Operand::result(param, member), results.dims(index));
            if param.role == Role::InOut && dims != args.dims(arg_indices.start + member) {
                let argument = Operand::argument(param, member);
                return Err(in_out_error(operand, dims, argument, args.dims(arg_indices.start + member)));
            }
            if let Some(pattern) = param.dims {
                verify(bindings, pattern, dims, operand)?;
            }
        }
    }
    Ok(())
}

/// Binds all names, and checks the arguments, whose number is right.
pub(super) fn bind_args<'a, A: DimsList + ?Sized>(
    handler: &Handler,
    args: &'a A,
    ints: &[(&'a str, i64)],
) -> Result<Bindings<'a>> {
    let params = handler.params;
    let mut bindings = Bindings::new(handler.traits.recorded);
    for &(name, value) in ints {
        bindings.bind_attribute(name, value);
    }
    let patterns = assign(params, args.count(), 0).filter_map(|assigned| {
        let pattern = assigned.param.dims?;
        Some((assigned, pattern))
    });
    for (assigned, pattern) in patterns.clone() {
        for index in assigned.args.clone() {
            let operand = Operand::argument(assigned.param, index - assigned.args.start);
            let dims = args.dims(index);
            bindings
                .bind(pattern, dims, operand)
                .map_err(|mismatch| mismatch_error(&bindings, pattern, dims, operand, &mismatch))?;
        }
    }
    for (assigned, pattern) in patterns {
        for index in assigned.args.clone() {
            let operand = Operand::argument(assigned.param, index - assigned.args.start);
            verify(&bindings, pattern, args.dims(index), operand)?;
        }
    }
    Ok(bindings)
}

fn verify(bindings: &Bindings<'_>, pattern: &'static [DimPattern], dims: &[i64], operand: Operand) -> Result<()> {
    bindings.verify(pattern, dims).map_err(|mismatch| mismatch_error(bindings, pattern, dims, operand, &mismatch))
}

#[cold]
fn in_out_error(result: Operand, dims: &[i64], argument: Operand, expected: &[i64]) -> Error {
    Error::invalid_argument(format!(
        "{result} has shape {dims:?}, but is the same array as {argument}, which has {expected:?}"
    ))
}

#[cold]
fn mismatch_error(
    bindings: &Bindings<'_>,
    pattern: &'static [DimPattern],
    dims: &[i64],
    operand: Operand,
    mismatch: &Mismatch<'_>,
) -> Error {
    let text = bindings.written(pattern);
    let names = bindings.describe(Pattern(pattern));
    Error::invalid_argument(match mismatch {
        Mismatch::Shape => {
            let expected = bindings.expected(pattern);
            format!("{operand} has shape {dims:?}, but {text}{names} expects {expected}")
        }
        Mismatch::Ambiguous => {
            format!("{operand} has shape {dims:?}, but more than one list of {text}{names} has any length")
        }
        Mismatch::Eval(error) => format!("{operand} has no shape by {text}{names}: {error}"),
    })
}
