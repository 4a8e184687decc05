//! Partitioning: programs whose arrays are split over devices.
//!
//! Arrays are computed whole, so shardings change no result: they determine which device gets which part of the
//! program's parameters and results. Only a program that is one manual computation over all devices (`per_device`),
//! such as those of `jax.pmap`, runs on each device separately, on its shards. Open shardings are propagated as in
//! [Shardy](https://openxla.org/shardy/propagation): each op has a rule (`rules`) that says which dimensions of its
//! operands and results belong together, and axes spread along them (`factors`) until nothing changes (`graph`).
//!
//! `axes` has a mesh in prime factors, `calls` the custom calls that run on shards, and `unreduced` the sums that are
//! not taken yet, as stacks of the devices' summands.

mod axes;
mod calls;
mod factors;
mod graph;
mod per_device;
#[cfg(test)]
mod per_device_tests;
mod rules;
#[cfg(test)]
mod tests;
mod unreduced;

use std::collections::BTreeSet;

use oxcall::Error;
use oxcall_hlo::sharding::{OpSharding, TensorSharding, Tiling};
use oxcall_hlo::{ArgAttributes, Attribute, CustomCall, ElementType, Func, Module, TensorType, ValueId};

use self::axes::{Axes, State};
use self::graph::Graph;
use crate::compile::passes;

/// A client's options for the shardings of a program.
#[derive(Debug, Clone, Default)]
pub struct ShardingOptions {
    /// Which parameter shardings the compiler may choose: one flag for each, or one for all; if empty, none.
    pub open_parameters: Vec<bool>,
    /// Which result shardings the compiler may choose, in the same form.
    pub open_results: Vec<bool>,
    /// The targets of custom calls that may run on slices of their leading dimensions.
    pub batch_partitionable: BTreeSet<String>,
}

/// The shardings of a program's parameters and results.
#[derive(Debug, Clone, PartialEq)]
pub struct Shardings {
    /// One for each parameter.
    pub parameters: Vec<ShardedArray>,
    /// One for each result.
    pub results: Vec<ShardedArray>,
    /// The calls of `oxcall_inspect_sharding`, which have been removed from the program, and the shardings of their
    /// operands; `None` inside a per-device computation.
    pub inspections: Vec<(CustomCall, Option<Tiling>)>,
}

/// A parameter or result, with its sharding.
#[derive(Debug, Clone, PartialEq)]
pub struct ShardedArray {
    /// The type of the whole array.
    pub ty: TensorType,
    /// Its placement on the devices.
    pub placement: Placement,
}

/// The placement of an array on devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The part of the array that each device has.
    pub tiling: Tiling,
    /// Whether the array is unreduced: each device has a summand, and an extra first dimension, which clients do not
    /// see, counts the summands.
    pub unreduced: bool,
}

impl From<Tiling> for Placement {
    fn from(tiling: Tiling) -> Placement {
        Placement { tiling, unreduced: false }
    }
}

/// A program whose parameters and results are sharded.
pub(crate) struct Partitioned {
    /// The program over whole arrays, or of one device.
    pub(crate) module: Module,
    /// Whether each device runs the program separately, on its own arrays.
    pub(crate) per_device: bool,
    pub(crate) shardings: Shardings,
}

/// Shards the parameters and results of a verified program over `devices` devices.
///
/// An array is replicated if it has no sharding and the compiler may not choose one, or if propagation finds none.
/// Custom calls with a sharding rule become manual computations where their operands or results are split. Unreduced
/// parameters and results get a dimension for the devices' summands. A program that consists of one manual computation
/// over all devices becomes the program of each device.
///
/// # Errors
/// INVALID_ARGUMENT for shardings that do not match the devices, and the errors of inlining.
pub(crate) fn partition(mut module: Module, devices: usize, options: &ShardingOptions) -> Result<Partitioned, Error> {
    let stacked = unreduced::stack(&mut module)?;
    let main = module.main();
    let params = stated(main, &main.body.params, &main.param_attributes, &options.open_parameters, "parameter")?;
    let results = stated(main, &main.body.results, &main.result_attributes, &options.open_results, "result")?;
    // One function: propagation looks at ops and their regions, never through calls.
    passes::inline_calls(&mut module)?;
    let Propagated { parameters: found_params, results: found_results, inspections } =
        propagate(&mut module, devices, options, &params, &results)?;
    let shardings = Shardings {
        parameters: sharded(params, found_params, &stacked.parameters, &module, devices, "parameter")?,
        results: sharded(results, found_results, &stacked.results, &module, devices, "result")?,
        inspections,
    };
    module.funcs.iter_mut().for_each(|func| calls::remove_inspections(&mut func.body));
    let main = per_device::main(&module, &shardings);
    let per_device = main.is_some();
    if let Some(main) = main {
        module.funcs[module.entry.0 as usize] = main;
    }
    Ok(Partitioned { module, per_device, shardings })
}

/// The results of propagation.
#[derive(Default)]
struct Propagated {
    /// The tiling of each parameter whose sharding may be chosen.
    parameters: Vec<Option<Tiling>>,
    /// The tiling of each result.
    results: Vec<Option<Tiling>>,
    inspections: Vec<(CustomCall, Option<Tiling>)>,
}

/// Propagates the shardings of a program without calls, if any sharding may be chosen or a call asks for one. Custom
/// calls with a rule then run on shards.
fn propagate(
    module: &mut Module,
    devices: usize,
    options: &ShardingOptions,
    params: &[Stated],
    results: &[Stated],
) -> Result<Propagated, Error> {
    let has_rules = calls::add_batch_rules(module, &|target| options.batch_partitionable.contains(target));
    let observed = module.funcs.iter().any(|func| calls::any_observes(&func.body));
    let wanted = has_rules || observed || params.iter().chain(results).any(Stated::may_change);
    let Some(axes) = Axes::of_program(module, devices).filter(|_| wanted) else { return Ok(Propagated::default()) };
    let mut graph = Graph::new(module, &axes, &states(&axes, params), &states(&axes, results));
    graph.propagate();
    let tilings = |list: &[Stated], tiling: &dyn Fn(usize, &[usize]) -> Tiling| {
        let each = list.iter().enumerate();
        each.map(|(index, stated)| stated.may_change().then(|| tiling(index, &stated.ty.dims))).collect()
    };
    let parameters = tilings(params, &|index, dims| graph.parameter(index, dims));
    let results = tilings(results, &|index, dims| graph.result(index, dims));
    let inspections = graph.inspections();
    let split = graph.split_calls();
    if !split.is_empty() {
        calls::split(module, split);
        // The parts of a call may give summands.
        unreduced::stack(module)?;
    }
    Ok(Propagated { parameters, results, inspections })
}

/// The shardings of `list`: from propagation (`found`), or as the program states them.
fn sharded(
    list: Vec<Stated>,
    found: Vec<Option<Tiling>>,
    unreduced: &[bool],
    module: &Module,
    devices: usize,
    what: &str,
) -> Result<Vec<ShardedArray>, Error> {
    let mut found = found.into_iter();
    let each = |(index, stated): (usize, Stated)| {
        let rank = stated.ty.rank();
        let tiling = match (found.next().flatten(), &stated.sharding) {
            (Some(tiling), _) => Ok(tiling),
            (None, Some(Given::Shardy(sharding))) => Tiling::of(sharding, module, rank, devices),
            (None, Some(Given::Hlo(sharding))) => sharding.tiling(rank, devices),
            (None, None) => Ok(Tiling::replicated(rank, devices)),
        };
        let tiling =
            tiling.map_err(|error| Error::invalid_argument(format!("the sharding of {what} {index}: {error}")))?;
        let unreduced = unreduced.get(index).copied().unwrap_or(false);
        Ok(ShardedArray { ty: stated.ty, placement: Placement { tiling, unreduced } })
    };
    list.into_iter().enumerate().map(each).collect()
}

/// A parameter or result, with its declarations in the program.
struct Stated {
    ty: TensorType,
    sharding: Option<Given>,
    /// Whether its sharding may be chosen where the program states none.
    open: bool,
}

/// A sharding that the program states.
enum Given {
    Shardy(TensorSharding),
    Hlo(OpSharding),
}

impl Stated {
    /// Whether propagation may find or extend the sharding.
    fn may_change(&self) -> bool {
        match &self.sharding {
            None => self.open,
            Some(Given::Shardy(sharding)) => sharding.dims.iter().any(|dim| !dim.closed),
            Some(Given::Hlo(sharding)) => *sharding == OpSharding::Unknown,
        }
    }
}

fn stated(
    main: &Func,
    values: &[ValueId],
    attributes: &[ArgAttributes],
    open: &[bool],
    what: &str,
) -> Result<Vec<Stated>, Error> {
    let of = |(index, (&value, attributes)): (usize, (&ValueId, &ArgAttributes))| {
        let mut sharding = None;
        for (name, attribute) in attributes {
            match (name.as_str(), attribute) {
                ("sdy.sharding", Attribute::Sharding(given)) => sharding = Some(Given::Shardy(given.clone())),
                ("mhlo.sharding", Attribute::String(_)) if sharding.is_none() => {
                    let text = attribute.as_str().unwrap_or_default();
                    let given = OpSharding::parse(text).map_err(|error| {
                        Error::invalid_argument(format!("mhlo.sharding of {what} {index}: {}", error.message))
                    })?;
                    sharding = Some(Given::Hlo(given));
                }
                _ => {}
            }
        }
        let tensor = main.ty(value).tensor();
        let open = open.get(index).or(open.first().filter(|_| open.len() == 1)).copied().unwrap_or(false);
        let ty = tensor.cloned().unwrap_or_else(|| TensorType::scalar(ElementType::Pred));
        Ok(Stated { ty, sharding, open: open && tensor.is_some() })
    };
    values.iter().zip(attributes).enumerate().map(of).collect()
}

/// The initial states of propagation.
fn states(axes: &Axes, stated: &[Stated]) -> Vec<State> {
    let state = |stated: &Stated| {
        let given = match &stated.sharding {
            None if stated.open => return State::open(stated.ty.rank()),
            Some(Given::Shardy(sharding)) => axes.state(sharding),
            _ => None,
        };
        given.unwrap_or_else(|| State::closed(stated.ty.rank()))
    };
    stated.iter().map(state).collect()
}
