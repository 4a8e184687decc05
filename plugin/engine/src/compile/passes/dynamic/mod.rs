//! Bounded dynamic shapes: values whose dimensions have computed sizes become static ones.
//!
//! A value with a dynamic dimension is an array of the bound's size, with padding at its end, and a scalar `S32` with
//! its size. The pass follows these scalars from `set_dimension_size` and the dynamic parameters through each op. Where
//! an op would see the padding, the padding gets values that change nothing. The output is static: parameters and
//! results with dynamic dimensions have their sizes as additional parameters and results, after all others.

mod control;
mod emit;
mod indexing;
mod linear;
mod reduction;
mod reshape;
mod rules;

use std::collections::HashMap;

use oxcall::Error;
use oxcall_hlo::{DynamicDims, Func, Location, LocationId, Module, Op, OpKind, Region, TensorType, Type, ValueId};
use smallvec::SmallVec;

use super::Interface;
use super::ir::op_error;

/// The dynamic dimensions of a value, in order, and the scalars that hold their sizes.
type Sizes = SmallVec<[(usize, ValueId); 2]>;

/// The dynamic dimensions of a program's parameters and results. Their sizes are the last parameters and results, in
/// this order.
#[derive(Debug, Default)]
pub(super) struct DynamicEdges {
    parameters: Vec<Vec<usize>>,
    results: Vec<Vec<usize>>,
}

impl DynamicEdges {
    /// Records the dimensions in the parameters and results, and removes the parameters and results that hold sizes.
    pub(super) fn mark(self, interface: &mut Interface) {
        let mark = |specs: &mut Vec<_>, dims: Vec<Vec<usize>>| {
            specs.truncate(dims.len());
            specs.iter_mut().zip(dims).for_each(|(spec, dims): (&mut super::IoSpec, _)| spec.dynamic = dims);
        };
        if !self.parameters.is_empty() || !self.results.is_empty() {
            mark(&mut interface.parameters, self.parameters);
            mark(&mut interface.results, self.results);
        }
    }
}

/// Makes all shapes of the entry function static.
///
/// # Errors
/// UNIMPLEMENTED if an op has no meaning for padded operands, or a declared size is not known, with the op and the
/// dimension.
pub(super) fn resolve(module: &mut Module) -> Result<DynamicEdges, Error> {
    let Module { funcs, locations, entry, .. } = module;
    let func = &mut funcs[entry.0 as usize];
    if !is_dynamic(func) {
        return Ok(DynamicEdges::default());
    }
    let mut resolver = Resolver {
        values: std::mem::take(&mut func.values),
        sizes: HashMap::new(),
        ops: Vec::new(),
        location: LocationId::UNKNOWN,
    };
    let mut parameters = Vec::with_capacity(func.body.params.len());
    for param in func.body.params.clone() {
        let dims: Vec<usize> = resolver.declared(param).iter().collect();
        dims.iter().try_for_each(|&dim| emit::fits(resolver.bound(param, dim)).map(drop))?;
        let sizes = dims.iter().map(|&dim| (dim, resolver.scalar()));
        let sizes: Sizes = sizes.collect();
        func.body.params.extend(sizes.iter().map(|&(_, size)| size));
        func.param_attributes.extend(sizes.iter().map(|_| Vec::new()));
        resolver.set(param, sizes);
        parameters.push(dims);
    }
    resolver.region(&mut func.body, locations)?;
    let mut results = Vec::with_capacity(func.body.results.len());
    for result in func.body.results.clone() {
        let sizes = resolver.sizes(result);
        func.body.results.extend(sizes.iter().map(|&(_, size)| size));
        func.result_attributes.extend(sizes.iter().map(|_| Vec::new()));
        results.push(sizes.iter().map(|&(dim, _)| dim).collect());
    }
    func.values = resolver.values;
    for ty in &mut func.values {
        if let Type::Tensor(tensor) = ty {
            tensor.dynamic = DynamicDims::NONE;
        }
    }
    Ok(DynamicEdges { parameters, results })
}

/// Whether anything in the function is dynamic.
fn is_dynamic(func: &Func) -> bool {
    fn sets(region: &Region) -> bool {
        let each = |op: &Op| matches!(op.kind, OpKind::SetDimensionSize { .. }) || op.regions.iter().any(sets);
        region.ops.iter().any(each)
    }
    let declared = func.values.iter().filter_map(Type::tensor).any(|ty| !ty.dynamic.is_empty());
    declared || sets(&func.body)
}

/// The state of the rewrite.
struct Resolver {
    /// The types of values.
    values: Vec<Type>,
    /// The dynamic dimensions of values that have some.
    sizes: HashMap<ValueId, Sizes>,
    /// The ops of the region that is being rewritten.
    ops: Vec<Op>,
    /// The location of the op that is being rewritten.
    location: LocationId,
}

impl Resolver {
    /// Rewrites a region whose parameters' sizes are known.
    fn region(&mut self, region: &mut Region, locations: &[Location]) -> Result<(), Error> {
        let outer = std::mem::take(&mut self.ops);
        for op in std::mem::take(&mut region.ops) {
            let (name, location) = (op.kind.name(), op.location);
            self.location = location;
            self.op(op, locations).map_err(|error| op_error(error, name, &locations[location.0 as usize]))?;
        }
        region.ops = std::mem::replace(&mut self.ops, outer);
        Ok(())
    }

    fn op(&mut self, mut op: Op, locations: &[Location]) -> Result<(), Error> {
        let operands: Vec<ValueId> = op.operands.clone();
        let is_source = matches!(op.kind, OpKind::SetDimensionSize { .. } | OpKind::While | OpKind::If | OpKind::Case);
        let results = op.results.clone();
        match op.kind {
            OpKind::While => self.while_loop(op, locations)?,
            OpKind::If | OpKind::Case => self.branches(op, locations)?,
            _ => {
                for region in &mut op.regions {
                    region.params.iter().for_each(|&param| self.set(param, Sizes::new()));
                    self.region(region, locations)?;
                }
                self.location = op.location;
                self.straight(op)?;
            }
        }
        // Without this check, dimensions that no operand explains would be taken for static.
        let explained =
            is_source || operands.iter().any(|&operand| self.is_dynamic(operand) || !self.declared(operand).is_empty());
        for result in results {
            let known = self.sizes(result);
            let unknown = self.declared(result).iter().find(|dim| known.iter().all(|(each, _)| each != dim));
            if let Some(dim) = unknown.filter(|_| !explained) {
                return Err(Error::unimplemented(format!(
                    "dimension {dim} of the result {} is dynamic, but no operand determines its size",
                    self.ty(result),
                )));
            }
        }
        Ok(())
    }

    /// The type of a value.
    fn ty(&self, value: ValueId) -> &Type {
        &self.values[value.0 as usize]
    }

    /// The type of a tensor value.
    fn tensor(&self, value: ValueId) -> TensorType {
        self.ty(value).tensor().expect("verified: the operand is a tensor").clone()
    }

    /// The bound of a dimension.
    fn bound(&self, value: ValueId, dim: usize) -> usize {
        self.ty(value).tensor().expect("verified: the operand is a tensor").dims[dim]
    }

    /// The dimensions that the program declares to be dynamic.
    fn declared(&self, value: ValueId) -> DynamicDims {
        self.ty(value).tensor().map_or(DynamicDims::NONE, |ty| ty.dynamic)
    }

    /// The sizes of a value's dynamic dimensions.
    fn sizes(&self, value: ValueId) -> Sizes {
        self.sizes.get(&value).cloned().unwrap_or_default()
    }

    /// The size of a dimension, if it is dynamic.
    fn size(&self, value: ValueId, dim: usize) -> Option<ValueId> {
        self.sizes.get(&value)?.iter().find(|(each, _)| *each == dim).map(|&(_, size)| size)
    }

    /// Whether a value has dynamic dimensions.
    fn is_dynamic(&self, value: ValueId) -> bool {
        self.sizes.contains_key(&value)
    }

    /// Records the sizes of a value.
    fn set(&mut self, value: ValueId, mut sizes: Sizes) {
        if sizes.is_empty() {
            self.sizes.remove(&value);
        } else {
            sizes.sort_unstable_by_key(|&(dim, _)| dim);
            self.sizes.insert(value, sizes);
        }
    }
}
