//! Shardings of programs: those that a program states, and those that follow from them.
//!
//! Arrays are computed as a whole, so shardings change no result: they say which device gets which part of the
//! program's parameters and results. Those that are left open are found as
//! [Shardy](https://openxla.org/shardy/propagation) finds them: each op has a rule (`rules`) that says which dimensions
//! of its operands and results belong together, and axes spread along them (`factors`) until nothing changes (`graph`).
//!
//! `axes` is a mesh in prime parts, `calls` are custom calls that run on parts, `summands` are sums that are left to be
//! taken, as stacks of the devices' summands.

mod axes;
mod calls;
mod factors;
mod graph;
mod rules;
mod summands;

use std::collections::BTreeSet;

use oxcall::Error;
use oxcall_hlo::sharding::{OpSharding, TensorSharding, Tiling};
use oxcall_hlo::{ArgAttributes, Attribute, CustomCall, ElementType, Func, Module, TensorType, ValueId};

use self::axes::{Axes, State};
use self::graph::Graph;
use crate::passes;

impl From<Tiling> for Placement {
    fn from(tiling: Tiling) -> Placement {
        Placement { tiling, summands: false }
    }
}

/// What a client says of a program's shardings.
#[derive(Debug, Clone, Default)]
pub struct ShardingOptions {
    /// Which shardings of parameters may be chosen: one flag for each, or a single one for all; none for no.
    pub open_parameters: Vec<bool>,
    /// Those of results.
    pub open_results: Vec<bool>,
    /// The targets of custom calls that may be called with a part of their first dimensions.
    pub batch_partitionable: BTreeSet<String>,
}

/// How parameters and results are split over devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Shardings {
    /// One for each parameter.
    pub parameters: Vec<Placement>,
    /// One for each result.
    pub results: Vec<Placement>,
    /// The calls of `oxcall_inspect_sharding`, which are not in the program any more, and how their operands are split;
    /// `None` inside of a computation per device.
    pub inspections: Vec<(CustomCall, Option<Tiling>)>,
}

/// How a parameter or result is split over devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Which device has which part.
    pub tiling: Tiling,
    /// Whether devices have summands: the first dimension is that of summands, of which clients know nothing.
    pub summands: bool,
}

/// How the parameters and results of a verified program are split over `devices` devices.
///
/// What has no sharding and may not be chosen is replicated, as is what nothing is known of. Custom calls that say how
/// they may be split, and whose operands or results are split, become manual computations. Parameters and results of
/// which devices have summands get a dimension for these.
///
/// # Errors
/// INVALID_ARGUMENT for shardings that do not fit the devices, and those of inlining calls.
pub fn partition(module: &mut Module, devices: usize, options: &ShardingOptions) -> Result<Shardings, Error> {
    let stacked = summands::stack(module)?;
    let main = module.main();
    let params = stated(main, &main.body.params, &main.param_attributes, &options.open_parameters, "parameter")?;
    let results = stated(main, &main.body.results, &main.result_attributes, &options.open_results, "result")?;
    let mut inlined = module.clone();
    passes::inline_calls(&mut inlined)?;
    let has_rules = calls::add_batch_rules(&mut inlined, &|target| options.batch_partitionable.contains(target));
    let observed = inlined.funcs.iter().any(|func| calls::any_observes(&func.body));
    let wanted = has_rules || observed || params.iter().chain(&results).any(Stated::may_change);
    let axes = Axes::of_program(&inlined, devices).filter(|_| wanted);
    let found = axes.as_ref().map(|axes| {
        let mut graph = Graph::new(&inlined, axes, &states(axes, &params), &states(axes, &results));
        graph.propagate();
        graph
    });
    let tilings = |list: Vec<Stated>, found: &dyn Fn(usize) -> Option<Tiling>, what: &str| {
        let tiling = |(index, stated): (usize, Stated)| {
            let rank = stated.ty.rank();
            let tiling = match (found(index).filter(|_| stated.may_change()), &stated.sharding) {
                (Some(tiling), _) => Ok(tiling),
                (None, Some(Given::Shardy(sharding))) => Tiling::of(sharding, module, rank, devices),
                (None, Some(Given::Hlo(sharding))) => sharding.tiling(rank, devices),
                (None, None) => Ok(Tiling::replicated(rank, devices)),
            };
            tiling.map_err(|error| Error::invalid_argument(format!("the sharding of {what} {index}: {error}")))
        };
        list.into_iter().enumerate().map(tiling).collect::<Result<Vec<_>, Error>>()
    };
    let placements = |tilings: Vec<Tiling>, summands: &[bool]| {
        let summands = summands.iter().copied().chain(std::iter::repeat(false));
        tilings.into_iter().zip(summands).map(|(tiling, summands)| Placement { tiling, summands }).collect()
    };
    let types = |values: &[ValueId], index: usize| main.ty(values[index]).tensor().map(|ty| ty.dims.to_vec());
    let parameter = |index: usize| Some(found.as_ref()?.parameter(index, &types(&main.body.params, index)?));
    let result = |index: usize| Some(found.as_ref()?.result(index, &types(&main.body.results, index)?));
    let shardings = Shardings {
        parameters: placements(tilings(params, &parameter, "parameter")?, &stacked.parameters),
        results: placements(tilings(results, &result, "result")?, &stacked.results),
        inspections: found.as_ref().map(Graph::inspections).unwrap_or_default(),
    };
    let split = found.map(|graph| graph.split_calls()).unwrap_or_default();
    if !split.is_empty() {
        calls::split(&mut inlined, split);
        *module = inlined;
    }
    module.funcs.iter_mut().for_each(|func| calls::remove_inspections(&mut func.body));
    Ok(shardings)
}

/// A parameter or result, and what the program says of it.
struct Stated {
    ty: TensorType,
    sharding: Option<Given>,
    /// Whether it may be chosen where nothing is said.
    open: bool,
}

/// A sharding that a program gives.
enum Given {
    Shardy(TensorSharding),
    Hlo(OpSharding),
}

impl Stated {
    /// Whether the sharding, or more of it, is to be found.
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
        let no_tensor = TensorType::scalar(ElementType::Pred);
        let ty = main.ty(value).tensor().unwrap_or(&no_tensor).clone();
        let open = open.get(index).or(open.first().filter(|_| open.len() == 1)).copied().unwrap_or(false);
        Ok(Stated { ty, sharding, open })
    };
    values.iter().zip(attributes).enumerate().map(of).collect()
}

/// Where propagation starts.
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

#[cfg(test)]
mod tests;
