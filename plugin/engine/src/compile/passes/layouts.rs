//! Layouts of parameters and results.
//!
//! Buffers are row-major. A tensor of another layout therefore has its dimensions in the order of memory, with a
//! transpose at the edge of the program.

use oxcall::Error;
use oxcall_hlo::{
    ArgAttributes, Attribute, CustomCall, Func, LocationId, Module, Op, OpKind, TensorType, Type, ValueId,
};

use super::ir::{Rewrite, rewrite};

/// A parameter or a result of a program, as its caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoSpec {
    /// Its type.
    pub ty: Type,
    /// Its dimensions from the slowest to the fastest in memory; `None` if they are in order.
    pub major_to_minor: Option<Vec<usize>>,
    /// The dimensions that may be smaller than the type says. The program has additional parameters or results for
    /// their sizes, scalars of `S32`, which come after all others in the order of the values to which they belong.
    pub dynamic: Vec<usize>,
}

/// The parameters and the results of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Interface {
    /// The parameters.
    pub parameters: Vec<IoSpec>,
    /// The results.
    pub results: Vec<IoSpec>,
}

/// Gives the entry function's parameters and results the layouts that `mhlo.layout_mode` names, and removes layout
/// constraints inside the program. A result that may have any layout gets that of its constraint or transpose.
///
/// # Errors
/// INVALID_ARGUMENT for a layout that is not valid for its tensor, UNIMPLEMENTED for tiles.
pub(super) fn apply(module: &mut Module) -> Result<Interface, Error> {
    let entry = module.entry.0 as usize;
    let func = &module.funcs[entry];
    let parameters = specs(func, &func.body.params, &func.param_attributes, "parameter")?;
    let results = specs(func, &func.body.results, &func.result_attributes, "result")?;
    rewrite(module, |_, op| {
        Ok(match constraint(&op) {
            Some(_) => Rewrite::With(op.operands.into()),
            None => Rewrite::Keep(op),
        })
    })?;
    let func = &mut module.funcs[entry];
    for (index, spec) in parameters.iter().enumerate() {
        if let Some((ty, order)) = spec.transposed() {
            let (inside, given) = (func.body.params[index], func.add_value(ty.into()));
            func.body.params[index] = given;
            let mut permutation = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, &dim)| permutation[dim] = place);
            func.body.ops.insert(0, transpose(given, inside, permutation));
        }
    }
    for (index, spec) in results.iter().enumerate() {
        if let Some((ty, order)) = spec.transposed() {
            let (inside, taken) = (func.body.results[index], func.add_value(ty.into()));
            func.body.results[index] = taken;
            func.body.ops.push(transpose(inside, taken, order.to_vec()));
        }
    }
    Ok(Interface { parameters, results })
}

impl IoSpec {
    /// The type of the tensor in memory order, and the order of its dimensions there; `None` if the order is its own.
    fn transposed(&self) -> Option<(TensorType, &[usize])> {
        let (ty, order) = (self.ty.tensor()?, self.major_to_minor.as_deref()?);
        Some((TensorType::new(ty.element, order.iter().map(|&dim| ty.dims[dim])), order))
    }
}

fn transpose(operand: ValueId, result: ValueId, permutation: Vec<usize>) -> Op {
    Op {
        kind: OpKind::Transpose { permutation },
        operands: vec![operand],
        results: vec![result],
        regions: Vec::new(),
        location: LocationId::UNKNOWN,
    }
}

fn specs(func: &Func, values: &[ValueId], attributes: &[ArgAttributes], what: &str) -> Result<Vec<IoSpec>, Error> {
    let spec = |(index, &value): (usize, &ValueId)| {
        let ty = func.ty(value).clone();
        let attributes = attributes.get(index).map_or(&[][..], Vec::as_slice);
        let mode = attributes.iter().find(|(name, _)| name == "mhlo.layout_mode").map(|(_, mode)| mode);
        let minor_to_major = match (ty.tensor(), mode.and_then(Attribute::as_str)) {
            (None, _) | (_, None | Some("default")) => None,
            (_, Some("auto")) => preferred(func, value),
            (Some(ty), Some(layout)) => {
                Some(parse(layout, ty).map_err(|error| error.context(format!("{what} {index}")))?)
            }
        };
        let order = minor_to_major.map(|order| order.into_iter().rev().collect::<Vec<_>>());
        Ok(IoSpec { ty, major_to_minor: order.filter(|order| !order.is_sorted()), dynamic: Vec::new() })
    };
    values.iter().enumerate().map(spec).collect()
}

/// The call, if `op` only constrains the layout of its operand.
fn constraint(op: &Op) -> Option<&CustomCall> {
    match &op.kind {
        OpKind::CustomCall(call) if call.target == "LayoutConstraint" && op.operands.len() == op.results.len() => {
            Some(call)
        }
        _ => None,
    }
}

/// The layout, minor to major, to which the op that produces `value` constrains it, or in which that op does not have
/// to move elements.
fn preferred(func: &Func, value: ValueId) -> Option<Vec<usize>> {
    let op = func.body.ops.iter().rfind(|op| op.results.contains(&value))?;
    if let OpKind::Transpose { permutation } = &op.kind {
        let mut dims: Vec<usize> = (0..permutation.len()).collect();
        dims.sort_unstable_by_key(|&dim| std::cmp::Reverse(permutation[dim]));
        return Some(dims);
    }
    let index = op.results.iter().position(|&result| result == value)?;
    constraint(op)?.result_layouts.as_ref()?.get(index).cloned()
}

/// Parses a layout in XLA's text form, `{0,1}`, minor to major.
fn parse(layout: &str, ty: &TensorType) -> Result<Vec<usize>, Error> {
    let invalid = || {
        let rank = ty.rank();
        Error::invalid_argument(format!(
            "`{layout}` is not a valid layout of {ty}: list its {rank} dimensions in braces, minor to major"
        ))
    };
    let inner = layout.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or_else(invalid)?;
    let (dims, rest) = inner.split_once(':').unwrap_or((inner, ""));
    // The width of packed elements, which does not matter for the layout here.
    if !rest.is_empty() && rest != format!("E({})", ty.element.bits()) {
        return Err(Error::unimplemented(format!("layout `{layout}`: tiles and memory spaces are not supported")));
    }
    let dims = dims.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    let order: Vec<usize> = dims.map(str::parse).collect::<Result<_, _>>().map_err(|_| invalid())?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted.into_iter().eq(0..ty.dims.len()) { Ok(order) } else { Err(invalid()) }
}
