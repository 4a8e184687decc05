//! Meshes and shardings, and computations per device.

use std::collections::HashSet;

use super::signature::{RegionType, ensure};
use crate::sharding::{ManualComputation, TensorSharding};
use crate::{Attribute, Error, Func, Module, TensorType, Type};

/// Checks the meshes of a program.
pub(super) fn verify_meshes(module: &Module) -> Result<(), Error> {
    let mut names = HashSet::new();
    for (name, mesh) in &module.meshes {
        ensure!(names.insert(name), "the mesh @{name} is defined twice");
        mesh.check()?;
    }
    Ok(())
}

/// Checks the shardings of a function's parameters and results.
pub(super) fn verify_attributes(module: &Module, func: &Func) -> Result<(), Error> {
    let params = func.body.params.iter().zip(&func.param_attributes);
    let results = func.body.results.iter().zip(&func.result_attributes);
    for (value, attributes) in params.chain(results) {
        for (_, attribute) in attributes {
            if let Attribute::Sharding(sharding) = attribute {
                fits(module, sharding, func.ty(*value))?;
            }
        }
    }
    Ok(())
}

/// Checks that a sharding can be that of a value.
pub(super) fn fits(module: &Module, sharding: &TensorSharding, ty: &Type) -> Result<(), Error> {
    sharding.check(module.mesh(&sharding.mesh)?, ty.tensor().map_or(0, TensorType::rank))
}

/// Checks a computation per device: its region has the local shapes.
pub(super) fn manual_computation(
    module: &Module,
    manual: &ManualComputation,
    operands: &[Type],
    results: &[Type],
    regions: &[RegionType],
) -> Result<(), Error> {
    let [region] = regions else {
        return Err(Error::invalid(format!("expected 1 region, got {}", regions.len())));
    };
    let mut names = HashSet::new();
    ensure!(
        manual.manual_axes.iter().all(|name| names.insert(name)),
        "manual_axes must name each axis once, got {:?}",
        manual.manual_axes
    );
    let sides = [
        ("in_shardings", &manual.in_shardings, operands, &region.params),
        ("out_shardings", &manual.out_shardings, results, &region.results),
    ];
    for (name, shardings, global, local) in sides {
        ensure!(
            shardings.len() == global.len() && global.len() == local.len(),
            "{name} must have an entry for each value, got {} for {} values outside and {} in the region",
            shardings.len(),
            global.len(),
            local.len()
        );
        for ((sharding, global), local) in shardings.iter().zip(global).zip(local) {
            fits(module, sharding, global)?;
            local_type(module, manual, sharding, global, local)?;
        }
    }
    Ok(())
}

/// Checks that `local` is the part of `global` that a device has.
fn local_type(
    module: &Module,
    manual: &ManualComputation,
    sharding: &TensorSharding,
    global: &Type,
    local: &Type,
) -> Result<(), Error> {
    let (Type::Tensor(global), Type::Tensor(local)) = (global, local) else {
        ensure!(global == local, "a value of type {global} must have the same type in the region, got {local}");
        return Ok(());
    };
    let mesh = module.mesh(&sharding.mesh)?;
    let unknown = manual.manual_axes.iter().find(|name| mesh.axis(name).is_none());
    if let Some(name) = unknown.filter(|_| mesh.maximal_device().is_none()) {
        return Err(Error::invalid(format!("manual_axes: the mesh {mesh} has no axis \"{name}\"")));
    }
    let tiles = sharding.tiles(mesh, |axis| manual.manual_axes.contains(&axis.name));
    let tiles = tiles.into_iter().chain(std::iter::repeat(1));
    let fits = local.rank() == global.rank()
        && local
            .dims
            .iter()
            .zip(tiles)
            .map(|(&size, tiles)| size.checked_mul(tiles))
            .eq(global.dims.iter().map(|&size| Some(size)));
    ensure!(
        fits && local.element == global.element,
        "a tensor of type {global} with the sharding {sharding} cannot have type {local} in the region"
    );
    Ok(())
}
