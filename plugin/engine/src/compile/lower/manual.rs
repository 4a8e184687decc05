//! Lowering of manual computations: a region that each device along some mesh axes runs on its shards, as a program of
//! its own.

use std::sync::Arc;

use oxcall::Error;
use oxcall_hlo::sharding::{AxisRef, ManualComputation, Mesh, TensorSharding};
use oxcall_hlo::{Func, FuncId, Module, Op, TensorType, ValueId};
use oxcall_kernels::kernels::nest::Loop;

use super::PlanRegion;
use crate::collective::{Clique, Pieces, strides};
use crate::plan::{ManualSite, Shard, Shards, Whole};
use crate::runtime::Runtime;

/// The manual computation `op` in a program that one of `cliques` will run. Its region uses `captures` from outside.
///
/// # Errors
/// INVALID_ARGUMENT if a sharding does not match its array or mesh, and the errors of planning the region.
pub(super) fn manual_site(
    module: &Module,
    op: &Op,
    manual: &ManualComputation,
    captures: &[ValueId],
    runtime: &Runtime,
    cliques: &[Arc<Clique>],
    plan: PlanRegion,
) -> Result<ManualSite, Error> {
    let func = module.main();
    let sharding = manual.in_shardings.iter().chain(&manual.out_shardings).next();
    let Some(sharding) = sharding else {
        return Err(Error::unimplemented("a manual computation without operands and results is not supported"));
    };
    let mesh = module.mesh(&sharding.mesh).map_err(|error| Error::invalid_argument(error.to_string()))?;
    let axes = Axes { mesh, names: &manual.manual_axes };
    let mut inner = Vec::new();
    for clique in cliques {
        for rank in 0..clique.len() {
            inner.push(Arc::new(axes.clique(clique, rank)?));
        }
    }
    let places = axes.places();
    let ty = |value: &ValueId| func.ty(*value).tensor();
    let mut operands = Vec::with_capacity(op.operands.len() + captures.len());
    for (value, sharding) in op.operands.iter().zip(&manual.in_shardings) {
        operands.push(axes.shards(ty(value), sharding, &places)?);
    }
    operands.extend(captures.iter().map(|value| Shards::copies(ty(value), places.len())));
    let results = op.results.iter().zip(&manual.out_shardings);
    let results = results.map(|(value, sharding)| axes.whole(ty(value), sharding, &places));
    let results = results.collect::<Result<_, _>>()?;
    let plan = plan(region_module(module, op, captures), runtime, inner)?;
    Ok(ManualSite { plan: Arc::new(plan), operands, results })
}

/// The region of `op` as a module; values from outside become parameters.
fn region_module(module: &Module, op: &Op, captures: &[ValueId]) -> Module {
    let mut body = op.regions[0].clone();
    body.params.extend(captures);
    let main = Func {
        name: "main".to_owned(),
        public: true,
        param_attributes: vec![Vec::new(); body.params.len()],
        result_attributes: vec![Vec::new(); body.results.len()],
        values: module.main().values.clone(),
        body,
    };
    // Custom calls may refer to the other functions.
    let others = module.funcs.iter().enumerate().filter(|(index, _)| *index != module.entry.0 as usize);
    Module {
        name: format!("{}.manual_computation", module.name),
        funcs: [main].into_iter().chain(others.map(|(_, func)| func.clone())).collect(),
        entry: FuncId(0),
        meshes: module.meshes.clone(),
        attributes: Vec::new(),
        locations: module.locations.clone(),
    }
}

/// The manual axes of a mesh.
struct Axes<'m> {
    mesh: &'m Mesh,
    names: &'m [String],
}

impl Axes<'_> {
    fn is_manual(&self, axis: &AxisRef) -> bool {
        self.names.contains(&axis.name)
    }

    /// The index of the participant to which a place of the mesh belongs.
    fn rank(&self, coordinates: &[usize]) -> usize {
        let index = |name: &String| self.mesh.axis(name).map_or((0, 1), |(axis, size)| (coordinates[axis], size));
        self.names.iter().map(index).fold(0, |rank, (index, size)| rank * size + index)
    }

    /// The number of participants.
    fn count(&self) -> usize {
        self.names.iter().map(|name| self.mesh.axis(name).map_or(1, |(_, size)| size)).product()
    }

    /// For each participant, the coordinates of its first place.
    fn places(&self) -> Vec<Vec<usize>> {
        let mut places = vec![None; self.count()];
        for place in 0..self.mesh.size() {
            let coordinates = self.mesh.coordinates(place);
            places[self.rank(&coordinates)].get_or_insert(coordinates);
        }
        places.into_iter().map(|place| place.unwrap_or_else(|| vec![0; self.mesh.axes.len()])).collect()
    }

    /// The clique in which the participant `rank` of `clique` runs the region.
    fn clique(&self, clique: &Clique, rank: usize) -> Result<Clique, Error> {
        let (grid, outer) = (clique.grid(), clique.processes(rank));
        let replica = outer[0] / grid.partitions;
        let mut inner = vec![Vec::new(); self.count()];
        for place in 0..self.mesh.size() {
            let process = replica * grid.partitions + self.mesh.device_at(place);
            if outer.contains(&process) {
                inner[self.rank(&self.mesh.coordinates(place))].push(process);
            }
        }
        if inner.iter().any(Vec::is_empty) || grid.partitions < self.mesh.size() {
            return Err(Error::invalid_argument(format!(
                "a manual computation over the axes {:?} of the mesh {} does not fit the program's {} partitions",
                self.names, self.mesh, grid.partitions
            )));
        }
        inner.iter_mut().for_each(|processes| processes.sort_unstable());
        Ok(Clique::new(grid, inner))
    }

    /// The number of shards along each dimension, and the dimension's size in a shard.
    fn tiles(&self, ty: &TensorType, sharding: &TensorSharding) -> Result<(Vec<usize>, Vec<usize>), Error> {
        let tiles = sharding.tiles(self.mesh, |axis| self.is_manual(axis));
        let fits =
            tiles.len() == ty.rank() && ty.dims.iter().zip(&tiles).all(|(dim, tiles)| dim.is_multiple_of(*tiles));
        if !fits {
            return Err(Error::invalid_argument(format!(
                "the sharding {sharding} does not divide {ty} into equal parts"
            )));
        }
        let local = ty.dims.iter().zip(&tiles).map(|(dim, tiles)| dim / tiles).collect();
        Ok((tiles, local))
    }

    /// The shards of an operand.
    fn shards(
        &self,
        ty: Option<&TensorType>,
        sharding: &TensorSharding,
        places: &[Vec<usize>],
    ) -> Result<Shards, Error> {
        let Some(ty) = ty else { return Ok(Shards::copies(ty, places.len())) };
        let (tiles, local) = self.tiles(ty, sharding)?;
        let strides = strides(ty);
        let (last, len) = run(ty, &tiles, &local, &strides);
        let loops = (0..last).map(|dim| Loop { size: local[dim], strides: [0, strides[dim] as isize] });
        let shard = |place: &Vec<usize>| {
            let tile = sharding.tile(self.mesh, place, |axis| self.is_manual(axis));
            let offsets = (0..ty.rank()).map(|dim| tile[dim] * local[dim] * strides[dim]);
            Shard { offset: offsets.sum() }
        };
        let bytes = local.iter().product::<usize>() * ty.element.byte_width();
        Ok(Shards { bytes, pieces: Pieces::new(loops, len), shards: places.iter().map(shard).collect() })
    }

    /// The assembly of a result.
    fn whole(&self, ty: Option<&TensorType>, sharding: &TensorSharding, places: &[Vec<usize>]) -> Result<Whole, Error> {
        let Some(ty) = ty else { return Ok(Whole { pieces: Pieces::new([], 0), sources: vec![0] }) };
        let (tiles, local) = self.tiles(ty, sharding)?;
        let part = TensorType::new(ty.element, local.iter().copied());
        let local_strides = strides(&part);
        let (last, len) = run(ty, &tiles, &local, &strides(ty));
        let mut tile_strides = vec![1; ty.rank()];
        for dim in (1..ty.rank()).rev() {
            tile_strides[dim - 1] = tile_strides[dim] * tiles[dim];
        }
        let mut loops = Vec::new();
        for dim in 0..ty.rank().min(last + 1) {
            loops.push(Loop { size: tiles[dim], strides: [tile_strides[dim] as isize, 0] });
            if dim < last {
                loops.push(Loop { size: local[dim], strides: [0, local_strides[dim] as isize] });
            }
        }
        let mut sources = vec![None; tiles.iter().product()];
        for (rank, place) in places.iter().enumerate() {
            let tile = sharding.tile(self.mesh, place, |axis| self.is_manual(axis));
            let index: usize = tile.iter().zip(&tile_strides).map(|(tile, stride)| tile * stride).sum();
            sources[index].get_or_insert(rank);
        }
        let sources = sources.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Whole { pieces: Pieces::new(loops, len), sources })
    }
}

/// The last dimension that is split (0 if there is none), and the contiguous bytes of a shard from there on.
fn run(ty: &TensorType, tiles: &[usize], local: &[usize], strides: &[usize]) -> (usize, usize) {
    match tiles.iter().rposition(|&tiles| tiles > 1) {
        Some(last) => (last, local[last] * strides[last]),
        None => (0, ty.byte_size()),
    }
}
