//! Programs that are one manual computation over all of their devices, such as those of `jax.pmap`: the program that
//! each device runs on its own arrays.

use std::collections::HashMap;

use oxcall_hlo::sharding::{ManualComputation, TensorSharding, Tiling};
use oxcall_hlo::{Func, Module, Op, OpKind, TensorType, ValueId};

use super::{ShardedArray, Shardings};
use crate::compile::passes::ir::{Mapping, remap_operands};

/// The entry function of each device's program, if `module`, which has no calls, consists of one manual computation
/// whose operands are the program's parameters and whose results are its results, with the same shardings. Its
/// parameters and results are the shards that devices hold.
pub(super) fn main(module: &Module, shardings: &Shardings) -> Option<Func> {
    let main = module.main();
    let (op, manual, names) = only_computation(main)?;
    let tilings = |list: &[ShardedArray]| list.iter().map(|array| array.placement.tiling.clone()).collect::<Vec<_>>();
    let (parameters, results) = (tilings(&shardings.parameters), tilings(&shardings.results));
    let devices = parameters.iter().chain(&results).next()?.devices();
    if !is_over_all(module, manual, devices) {
        return None;
    }
    let same = |value: ValueId, sharding: &TensorSharding, expected: &Tiling| {
        let rank = main.ty(value).tensor().map(TensorType::rank)?;
        (Tiling::of(sharding, module, rank, devices).ok()? == *expected).then_some(())
    };
    // Parameters of the region become parameters of the program.
    let mut params = Mapping::default();
    let region = &op.regions[0];
    for ((&operand, sharding), &param) in op.operands.iter().zip(&manual.in_shardings).zip(&region.params) {
        let operand = names.get(operand);
        let index = main.body.params.iter().position(|&param| param == operand)?;
        same(operand, sharding, &parameters[index])?;
        params.insert(param, operand);
    }
    let mut given = HashMap::new();
    for ((&result, sharding), &inner) in op.results.iter().zip(&manual.out_shardings).zip(&region.results) {
        given.insert(result, (sharding, params.get(inner)));
    }
    let mut func = main.clone();
    for (&param, tiling) in main.body.params.iter().zip(&parameters) {
        let ty = main.ty(param).tensor()?;
        if !tiling.divides(&ty.dims) {
            return None;
        }
        func.values[param.0 as usize] = TensorType::new(ty.element, tiling.tile_dims(&ty.dims)).into();
    }
    let mut ends = Vec::with_capacity(main.body.results.len());
    for (&result, tiling) in main.body.results.iter().zip(&results) {
        let result = names.get(result);
        let (sharding, inner) = given.get(&result)?;
        same(result, sharding, tiling)?;
        ends.push(*inner);
    }
    let mut body = region.clone();
    remap_operands(&mut body, &|value| params.get(value));
    func.body.ops = body.ops;
    func.body.results = ends;
    for attributes in func.param_attributes.iter_mut().chain(&mut func.result_attributes) {
        attributes.retain(|(name, _)| !matches!(name.as_str(), "sdy.sharding" | "mhlo.sharding"));
    }
    Some(func)
}

/// The only manual computation of a function whose other ops are sharding constraints and other names of values.
fn only_computation(main: &Func) -> Option<(&Op, &ManualComputation, Mapping)> {
    let mut names = Mapping::default();
    let mut found = None;
    for op in &main.body.ops {
        match &op.kind {
            OpKind::ShardingConstraint(_) => names.insert(op.results[0], names.get(op.operands[0])),
            OpKind::ShardingGroup { .. } => {}
            OpKind::ManualComputation(manual) if found.is_none() => found = Some((op, &**manual)),
            _ => return None,
        }
    }
    found.map(|(op, manual)| (op, manual, names))
}

/// Whether each device is a separate participant.
fn is_over_all(module: &Module, manual: &ManualComputation, devices: usize) -> bool {
    let meshes = manual.in_shardings.iter().chain(&manual.out_shardings).map(|sharding| module.mesh(&sharding.mesh));
    let Some(Ok(mesh)) = meshes.into_iter().next() else { return false };
    let is_manual = |(name, size): &(String, usize)| *size == 1 || manual.manual_axes.contains(name);
    mesh.size() == devices && mesh.axes.iter().all(is_manual)
}
