//! Whole programs: functions, SSA form, and the rules of each op.

use std::collections::HashSet;

use super::infer::infer_types;
use super::sharding;
use super::signature::{RegionType, Signature, ensure};
use crate::{Attribute, Error, Func, FuncId, Location, Module, Op, OpKind, Region, Type, ValueId};

/// Regions and tuples may be nested so deep; those who use a verified program may recurse over them.
const MAX_DEPTH: usize = 128;

/// Tensors may have so many bytes: more than any memory, and so few that sums over some tensors do not overflow.
const MAX_BYTES: usize = 1 << 56;

/// Tensors may have so many dimensions. Time may grow with the square of it.
const MAX_RANK: usize = 256;

/// Checks a program: that each value is defined once and before its use, that every op keeps the constraints of the
/// specification, that the types of results are those that its rules give, that functions that are called exist, that
/// aliased parameters and results fit, and that tensors are no larger than memory can be.
///
/// # Errors
/// The first violation, with the op and its source location. What is about a function or the module as a whole has its
/// name.
pub fn verify(module: &Module) -> Result<(), Error> {
    verify_module(module).map_err(|error| error.in_op(format!("builtin.module @{}", module.name)))
}

fn verify_module(module: &Module) -> Result<(), Error> {
    ensure!(module.locations.first() == Some(&Location::Unknown), "the first location must be the unknown one");
    ensure!((module.entry.0 as usize) < module.funcs.len(), "the program has no entry function");
    sharding::verify_meshes(module)?;
    let entry = module.main();
    let ends = entry.body.params.iter().chain(&entry.body.results);
    if let Some(future) = ends.filter_map(|value| entry.values.get(value.0 as usize)).find(|ty| ty.has_future()) {
        return Err(Error::unsupported(format!("parameters and results of a program cannot be futures, got {future}")));
    }
    let mut names = HashSet::new();
    for func in &module.funcs {
        ensure!(names.insert(&func.name), "the function @{} is defined twice", func.name);
        let name = format!("func.func @{}", func.name);
        verify_func(module, func).map_err(|error| error.in_op(name))?;
    }
    Ok(())
}

fn verify_func(module: &Module, func: &Func) -> Result<(), Error> {
    let mut scope =
        Scope { module, func, visible: vec![false; func.values.len()], once: vec![false; func.values.len()] };
    scope.region(&func.body, 0)?;
    // Also of values that nothing defines: the others were checked where they are.
    func.values.iter().try_for_each(|ty| verify_type(ty, 0))?;
    let (params, results) = (&func.body.params, &func.body.results);
    ensure!(
        func.param_attributes.len() == params.len() && func.result_attributes.len() == results.len(),
        "has attributes for {} parameters and {} results, but {} parameters and {} results",
        func.param_attributes.len(),
        func.result_attributes.len(),
        params.len(),
        results.len()
    );
    sharding::verify_attributes(module, func)?;
    verify_aliases(func)
}

/// Checks that tensors are neither too large nor of too many dimensions, and types not nested too deep.
fn verify_type(ty: &Type, depth: usize) -> Result<(), Error> {
    ensure!(depth < MAX_DEPTH, "tuples are nested more than {MAX_DEPTH} deep");
    match ty {
        Type::Token => Ok(()),
        Type::Tuple(types) => types.iter().try_for_each(|ty| verify_type(ty, depth + 1)),
        Type::Future(types) => types.iter().try_for_each(|ty| {
            ensure!(ty.tensor().is_some(), "a future must be of tensors, got {ty}");
            verify_type(ty, depth + 1)
        }),
        Type::Tensor(tensor) => {
            let rank = tensor.rank();
            if rank > MAX_RANK {
                return Err(Error::unsupported(format!(
                    "a tensor of {rank} dimensions: at most {MAX_RANK} are supported"
                )));
            }
            let bytes = tensor.checked_count().and_then(|count| count.checked_mul(tensor.element.byte_width()));
            let dims_fit = tensor.dims.iter().all(|&dim| isize::try_from(dim).is_ok());
            ensure!(
                dims_fit && bytes.is_some_and(|bytes| bytes <= MAX_BYTES),
                "a tensor of type {tensor} does not fit in memory"
            );
            Ok(())
        }
    }
}

/// Checks `tf.aliasing_output` of each parameter.
fn verify_aliases(func: &Func) -> Result<(), Error> {
    let mut taken = HashSet::new();
    for (index, attributes) in func.param_attributes.iter().enumerate() {
        for (name, attribute) in attributes {
            if name != "tf.aliasing_output" {
                continue;
            }
            let output = match attribute {
                Attribute::Integer(output, _) => usize::try_from(*output).ok(),
                _ => None,
            };
            let results = &func.body.results;
            let Some((output, result)) = output.and_then(|output| Some((output, results.get(output)?))) else {
                return Err(Error::invalid(format!(
                    "tf.aliasing_output of parameter {index} must be the index of one of the {} results",
                    results.len()
                )));
            };
            let (param, result) = (func.ty(func.body.params[index]), func.ty(*result));
            ensure!(
                param == result,
                "tf.aliasing_output of parameter {index} must name a result of type {param}, got result {output} of type {result}"
            );
            ensure!(taken.insert(output), "two parameters have tf.aliasing_output = {output}");
        }
    }
    Ok(())
}

/// The values that an op may use.
struct Scope<'m> {
    module: &'m Module,
    func: &'m Func,
    visible: Vec<bool>,
    /// Those that were defined, visible or not.
    once: Vec<bool>,
}

impl Scope<'_> {
    fn define(&mut self, values: &[ValueId]) -> Result<(), Error> {
        for value in values {
            let index = value.0 as usize;
            ensure!(index < self.once.len(), "value {index} has no type");
            ensure!(!self.once[index], "value {index} is defined twice");
            verify_type(&self.func.values[index], 0)?;
            self.once[index] = true;
            self.visible[index] = true;
        }
        Ok(())
    }

    fn hide(&mut self, values: &[ValueId]) {
        values.iter().for_each(|value| self.visible[value.0 as usize] = false);
    }

    fn check_uses(&self, values: &[ValueId], what: &str) -> Result<(), Error> {
        for value in values {
            let visible = self.visible.get(value.0 as usize).copied().unwrap_or(false);
            ensure!(visible, "{what} uses value {}, which is not defined before or in a region around it", value.0);
        }
        Ok(())
    }

    fn types(&self, values: &[ValueId]) -> Vec<Type> {
        values.iter().map(|value| self.func.ty(*value).clone()).collect()
    }

    /// The types of values that may not be defined yet.
    fn known_types(&self, values: &[ValueId]) -> Result<Vec<Type>, Error> {
        let ty = |value: &ValueId| self.func.values.get(value.0 as usize).cloned();
        let types = values.iter().map(ty).collect::<Option<_>>();
        types.ok_or_else(|| Error::invalid("a result has no type"))
    }

    fn region(&mut self, region: &Region, depth: usize) -> Result<RegionType, Error> {
        ensure!(depth < MAX_DEPTH, "regions are nested more than {MAX_DEPTH} deep");
        self.define(&region.params)?;
        for op in &region.ops {
            self.op(op, depth).map_err(|error| {
                let location = self.module.locations.get(op.location.0 as usize);
                error.in_op(op.kind.name()).at(location.unwrap_or(&Location::Unknown).to_string())
            })?;
        }
        self.check_uses(&region.results, "the terminator")?;
        let ty = RegionType { params: self.types(&region.params), results: self.types(&region.results) };
        self.hide(&region.params);
        region.ops.iter().for_each(|op| self.hide(&op.results));
        Ok(ty)
    }

    fn op(&mut self, op: &Op, depth: usize) -> Result<(), Error> {
        let known = (op.location.0 as usize) < self.module.locations.len();
        ensure!(known, "location {} does not exist", op.location.0);
        self.check_uses(&op.operands, "it")?;
        let mut regions = Vec::with_capacity(op.regions.len());
        for region in &op.regions {
            regions.push(self.region(region, depth + 1)?);
        }
        match &op.kind {
            // The regions of a composite are for those who know it by name.
            OpKind::Composite { decomposition, .. } => regions = vec![self.callee(*decomposition)?],
            OpKind::Call(callee) => {
                ensure!(regions.is_empty(), "expected 0 regions, got {}", regions.len());
                regions.push(self.callee(*callee)?);
            }
            OpKind::CustomCall(call) => {
                call.called_computations.iter().try_for_each(|callee| self.callee(*callee).map(drop))?;
            }
            OpKind::ShardingConstraint(sharding) => {
                op.operands
                    .iter()
                    .try_for_each(|&operand| sharding::fits(self.module, sharding, self.func.ty(operand)))?;
            }
            OpKind::AsyncStart => {
                let inside = Region::free_values(&op.regions);
                ensure!(inside.is_empty(), "the region must not use values from outside it");
            }
            OpKind::ManualComputation(manual) => {
                let (operands, results) = (self.types(&op.operands), self.known_types(&op.results)?);
                sharding::manual_computation(self.module, manual, &operands, &results, &regions)?;
                let inside = Region::free_values(&op.regions);
                ensure!(inside.is_empty(), "the region must not use values from outside it");
            }
            _ => {}
        }
        self.define(&op.results)?;
        let (operands, results) = (self.types(&op.operands), self.types(&op.results));
        let signature = Signature { kind: &op.kind, operands: &operands, regions: &regions, results: Some(&results) };
        let inferred = infer_types(signature)?;
        ensure!(inferred.len() == results.len(), "expected {} results, got {}", inferred.len(), results.len());
        for (index, (result, inferred)) in results.iter().zip(&inferred).enumerate() {
            ensure!(result == inferred, "result {index} must have type {inferred}, got {result}");
        }
        Ok(())
    }

    /// The type of a function.
    fn callee(&self, callee: FuncId) -> Result<RegionType, Error> {
        let Some(func) = self.module.funcs.get(callee.0 as usize) else {
            return Err(Error::invalid(format!("the called function {} does not exist", callee.0)));
        };
        let types = |values: &[ValueId]| -> Result<Vec<Type>, Error> {
            let ty = |value: &ValueId| func.values.get(value.0 as usize).cloned();
            values.iter().map(|value| ty(value).ok_or_else(|| Error::invalid("a parameter has no type"))).collect()
        };
        Ok(RegionType { params: types(&func.body.params)?, results: types(&func.body.results)? })
    }
}
