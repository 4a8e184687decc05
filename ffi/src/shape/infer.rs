//! The shapes and dtypes of results, from arguments and attributes.

use serde_json::{Map, Value};

use super::bindings::{Bindings, EvalError};
use super::broadcast::broadcast;
use super::check::{bind_args, check_results};
use super::operands::{Assigned, DimsList, Operand, assign, check_counts};
use super::{Pattern, Shape, ShapeContext};
use crate::descriptor::{Arity, DTypeRule, DimPattern, Handler, Param, Role, ShapeRule, TypeParam};
use crate::{DType, Error, Result};

/// The results of a call with these arguments and attributes.
///
/// Dimensions follow from the operation's [`ShapeRule`]; those of a parameter that is argument and result are the
/// argument's, and without a pattern, those of argument 0 are taken. Dtypes follow from the type parameters, which
/// arguments bind, or else `dtypes` (by the type parameter's name). The dtype of a result that takes any is found in
/// `dtypes` by the result's name; otherwise it is that of argument 0.
///
/// `num_results` counts all results; without it, optional results are absent.
///
/// # Errors
/// `INVALID_ARGUMENT` if the arguments do not fit the operation's declaration, or a result does not follow from them;
/// and what the operation's shape function returns.
pub fn infer(
    handler: &Handler,
    args: &[Shape],
    attrs: &Map<String, Value>,
    dtypes: &[(&str, DType)],
    num_results: Option<usize>,
) -> Result<Vec<Shape>> {
    infer_all(handler, args, attrs, dtypes, num_results).map_err(|error| error.context(handler.name))
}

/// More results than any program asks for; without a bound a request could ask for more than memory holds.
const MAX_RESULTS: usize = 1 << 16;

fn infer_all(
    handler: &Handler,
    args: &[Shape],
    attrs: &Map<String, Value>,
    dtypes: &[(&str, DType)],
    num_results: Option<usize>,
) -> Result<Vec<Shape>> {
    if let Some(number) = num_results.filter(|number| *number > MAX_RESULTS) {
        return Err(invalid(format!("{number} results are more than the {MAX_RESULTS} that a call may have")));
    }
    let params = handler.params;
    let least = least_results(params, args.len());
    check_counts(params, args.len(), least)?;
    check_arguments(params, args)?;
    let dtypes = DTypes::bind(handler, args, dtypes)?;

    if handler.traits.expands() {
        let dims = broadcast(params, args)?;
        return each_result(params, args.len(), num_results.unwrap_or(least))
            .map(|(assigned, member)| Ok(Shape { dtype: dtypes.of_result(&assigned, member)?, dims: dims.clone() }))
            .collect();
    }
    let context = ShapeContext::new(handler, args, attrs, num_results);
    let integers = context.integers()?;
    let bindings = bind_args(handler, args, &integers)?;
    let checked = |dims: Vec<Vec<i64>>| {
        check_function(params, args, &dims, num_results)?;
        // The call will be checked against the patterns too.
        check_results(params, args, dims.as_slice(), &bindings)?;
        Ok::<_, Error>(dims)
    };
    let dims = match handler.shape {
        ShapeRule::Function(function) => checked(function(&context)?)?,
        ShapeRule::Results(function) => {
            let results = function(&context)?;
            checked(results.iter().map(|result| result.dims.clone()).collect())?;
            return Ok(results);
        }
        ShapeRule::Dims => {
            let number = match (num_results, variadic_result(params)) {
                (Some(number), _) => number,
                (None, None) => least,
                (None, Some(name)) => {
                    return Err(invalid(format!(
                        "the number of results `{name}` cannot be inferred; give the number of results explicitly"
                    )));
                }
            };
            check_counts(params, args.len(), number)?;
            each_result(params, args.len(), number)
                .map(|(assigned, member)| dims_by_rule(&assigned, member, args, &bindings))
                .collect::<Result<_>>()?
        }
    };
    each_result(params, args.len(), dims.len())
        .zip(dims)
        .map(|((assigned, member), dims)| Ok(Shape { dtype: dtypes.of_result(&assigned, member)?, dims }))
        .collect()
}

/// The dimensions of a result that its pattern gives, where nothing else is to be inferred. `integers` are the
/// attributes that are integers.
pub(crate) fn result_dims<A: DimsList + ?Sized>(
    handler: &Handler,
    args: &A,
    integers: &[(&str, i64)],
    result: usize,
    pattern: &[DimPattern],
) -> Result<Vec<i64>> {
    let params = handler.params;
    check_counts(params, args.count(), least_results(params, args.count()))?;
    if handler.traits.expands() {
        return broadcast(params, args);
    }
    let bindings = bind_args(handler, args, integers)?;
    pattern_dims(pattern, Operand::result(&params[result], 0), &bindings)
}

/// The dimensions of a result by its pattern.
fn pattern_dims(pattern: &[DimPattern], operand: Operand, bindings: &Bindings<'_>) -> Result<Vec<i64>> {
    bindings.evaluate(pattern).map_err(|(token, error)| {
        invalid(match error {
            EvalError::Free => {
                format!("{operand} has a dimension `{token}` that cannot be inferred; give the shape explicitly")
            }
            error => {
                let names = bindings.describe(Pattern(pattern));
                format!("{operand} has no shape by {}{names}: {error}", bindings.written(pattern))
            }
        })
    })
}

fn invalid(message: String) -> Error {
    Error::invalid_argument(message)
}

/// The number of results when all optional ones are absent.
fn least_results(params: &'static [Param], num_args: usize) -> usize {
    assign(params, num_args, 0).map(|assigned| assigned.results.len()).sum()
}

fn variadic_result(params: &[Param]) -> Option<&'static str> {
    params.iter().find(|param| param.role == Role::Ret && param.arity == Arity::Variadic).map(|param| param.name)
}

/// The parameter of each result, and the result's index within it. The numbers have been checked.
fn each_result(
    params: &'static [Param],
    num_args: usize,
    num_results: usize,
) -> impl Iterator<Item = (Assigned, usize)> {
    assign(params, num_args, num_results)
        .flat_map(|assigned| (0..assigned.results.len()).map(move |member| (assigned.clone(), member)))
}

/// The arguments with their parameters. The number has been checked.
fn each_argument<'a>(
    params: &'static [Param],
    args: &'a [Shape],
) -> impl Iterator<Item = (Assigned, Operand, &'a Shape)> {
    assign(params, args.len(), 0).flat_map(move |assigned| {
        let members = args[assigned.args.clone()].iter().enumerate();
        members.map(move |(member, shape)| (assigned.clone(), Operand::argument(assigned.param, member), shape))
    })
}

/// Checks what does not depend on other operands: static ranks and dtypes.
fn check_arguments(params: &'static [Param], args: &[Shape]) -> Result<()> {
    for (assigned, operand, shape) in each_argument(params, args) {
        let dims = &shape.dims;
        if dims.iter().any(|&dim| dim < 0) {
            return Err(invalid(format!("{operand} has shape {dims:?}, but dimensions are non-negative")));
        }
        if let Some(rank) = assigned.param.rank.filter(|&rank| rank != dims.len()) {
            return Err(invalid(format!("{operand} has shape {dims:?}, but rank {rank} is expected")));
        }
        match assigned.param.dtype {
            DTypeRule::One(dtype) if dtype != shape.dtype => {
                return Err(invalid(format!("{operand} has dtype {}, but {dtype} is expected", shape.dtype)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks what a shape function returned, except against patterns.
fn check_function(
    params: &'static [Param],
    args: &[Shape],
    dims: &[Vec<i64>],
    num_results: Option<usize>,
) -> Result<()> {
    if let Some(number) = num_results.filter(|&number| number != dims.len()) {
        return Err(invalid(format!("the shape function gives {} results, but the call has {number}", dims.len())));
    }
    check_counts(params, args.len(), dims.len()).map_err(|error| error.context("the shape function's results"))?;
    for ((assigned, member), dims) in each_result(params, args.len(), dims.len()).zip(dims) {
        let operand = Operand::result(assigned.param, member);
        let what = if dims.iter().any(|&dim| dim < 0) {
            "but dimensions are non-negative".to_owned()
        } else if let Some(rank) = assigned.param.rank.filter(|&rank| rank != dims.len()) {
            format!("but rank {rank} is expected")
        } else {
            continue;
        };
        return Err(invalid(format!("the shape function gives {operand} the shape {dims:?}, {what}")));
    }
    Ok(())
}

/// The dimensions of a result by [`ShapeRule::Dims`].
fn dims_by_rule(assigned: &Assigned, member: usize, args: &[Shape], bindings: &Bindings<'_>) -> Result<Vec<i64>> {
    let param = assigned.param;
    let operand = Operand::result(param, member);
    if param.role == Role::InOut {
        return Ok(args[assigned.args.start + member].dims.clone());
    }
    if let Some(pattern) = param.dims {
        return pattern_dims(pattern, operand, bindings);
    }
    if param.rank == Some(0) || param.dtype == DTypeRule::One(DType::Token) {
        return Ok(Vec::new());
    }
    let Some(first) = args.first() else {
        return Err(invalid(format!("no argument determines the shape of {operand}; give it explicitly")));
    };
    match param.rank {
        Some(rank) if rank != first.rank() => Err(invalid(format!(
            "{operand} has rank {rank}, and without `#[dims(...)]` the shape of argument 0, which is {:?}; give the \
             shape explicitly",
            first.dims
        ))),
        _ => Ok(first.dims.clone()),
    }
}

/// The dtypes that results take.
struct DTypes<'a> {
    args: &'a [Shape],
    /// The values of the type parameters, in their order.
    vars: Vec<Var>,
    given: &'a [(&'a str, DType)],
}

/// A type parameter with its value, and the argument that has bound it.
struct Var {
    param: &'static TypeParam,
    value: Option<(DType, Option<Operand>)>,
}

impl<'a> DTypes<'a> {
    /// Binds the type parameters by the arguments, and those that remain by `given`.
    fn bind(handler: &Handler, args: &'a [Shape], given: &'a [(&'a str, DType)]) -> Result<DTypes<'a>> {
        let mut vars: Vec<Var> = handler.type_params.iter().map(|param| Var { param, value: None }).collect();
        for (assigned, operand, shape) in each_argument(handler.params, args) {
            if let DTypeRule::Var(index) = assigned.param.dtype {
                vars[index].bind(shape.dtype, Some(operand))?;
            }
        }
        for &(name, dtype) in given {
            if let Some(var) = vars.iter_mut().find(|var| var.param.name == name) {
                var.bind(dtype, None)?;
            }
        }
        Ok(DTypes { args, vars, given })
    }

    fn of_result(&self, assigned: &Assigned, member: usize) -> Result<DType> {
        let param = assigned.param;
        let operand = Operand::result(param, member);
        if param.role == Role::InOut {
            return Ok(self.args[assigned.args.start + member].dtype);
        }
        match param.dtype {
            DTypeRule::One(dtype) => Ok(dtype),
            DTypeRule::Var(index) => {
                let Var { param: TypeParam { name, dtypes }, value } = self.vars[index];
                match (value, *dtypes) {
                    (Some((dtype, _)), _) | (None, &[dtype]) => Ok(dtype),
                    (None, _) => Err(invalid(format!(
                        "no argument determines the dtype `{name}` of {operand}; give it explicitly: one of {}",
                        list(dtypes)
                    ))),
                }
            }
            DTypeRule::Any => {
                let given = self.given.iter().find(|(name, _)| *name == param.name).map(|&(_, dtype)| dtype);
                given.or_else(|| self.args.first().map(|arg| arg.dtype)).ok_or_else(|| {
                    invalid(format!("no argument determines the dtype of {operand}; give it explicitly"))
                })
            }
        }
    }
}

impl Var {
    /// Binds the type parameter, or compares with what it is bound to.
    fn bind(&mut self, dtype: DType, operand: Option<Operand>) -> Result<()> {
        let TypeParam { name, dtypes } = self.param;
        let who = || match operand {
            Some(operand) => format!("{operand} has dtype {dtype}"),
            None => format!("the dtype `{name}` is given as {dtype}"),
        };
        match self.value {
            Some((bound, Some(origin))) if bound != dtype => {
                Err(invalid(format!("{}, but `{name}` is {bound} (from {origin})", who())))
            }
            None if !dtypes.contains(&dtype) => {
                Err(invalid(format!("{}, but `{name}` is one of {}", who(), list(dtypes))))
            }
            None => {
                self.value = Some((dtype, operand));
                Ok(())
            }
            Some(_) => Ok(()),
        }
    }
}

fn list(dtypes: &[DType]) -> String {
    dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}
