//! Custom calls and shardings. A call that carries a sharding rule runs on shards, as a per-device computation. Other
//! calls ask for the shardings of their operands.

use std::collections::{BTreeMap, HashMap};

use oxcall_hlo::sharding::{DimSharding, ManualComputation, ShardingRule, TensorMapping, TensorSharding};
use oxcall_hlo::{Attribute, CustomCall, Func, Module, Op, OpKind, Region, TensorType, Type, ValueId};

use super::axes::{Atom, Axes, Dim, State};
use super::rules;

/// The name of the attribute that holds the rule of a call.
pub(super) const RULE: &str = "sdy.sharding_rule";

/// The attribute of calls without results that each device makes with its shards of the operands.
const PARTITIONED: &str = "oxcall.partitioned";

/// The frontend attribute with the numbers of the results that are sums over the parts of a call: `1,2`.
const SUMS: &str = "oxcall.sums";

/// The target of the calls that the compiler makes to report the shardings of their operands.
pub(super) const INSPECT_SHARDING: &str = "oxcall_inspect_sharding";

/// Whether a call asks for a sharding, though nothing depends on it.
pub(super) fn observes(call: &CustomCall, results: &[ValueId]) -> bool {
    let partitioned = || call.attributes.iter().any(|(name, _)| name == PARTITIONED);
    results.is_empty() && (call.target == INSPECT_SHARDING || partitioned())
}

/// Whether any call in the region observes shardings.
pub(super) fn any_observes(region: &Region) -> bool {
    region.ops.iter().any(|op| {
        let here = matches!(&op.kind, OpKind::CustomCall(call) if observes(call, &op.results));
        here || op.regions.iter().any(any_observes)
    })
}

/// Removes the calls that only ask for shardings.
pub(super) fn remove_inspections(region: &mut Region) {
    region.ops.retain(|op| !matches!(&op.kind, OpKind::CustomCall(call) if call.target == INSPECT_SHARDING));
    region.ops.iter_mut().flat_map(|op| &mut op.regions).for_each(remove_inspections);
}

/// The computation that makes a call on every device, with its shards of operands in these states.
pub(super) fn on_each_device(axes: &Axes<'_>, operands: &[(&State, &TensorType)]) -> ManualComputation {
    let sharding = |&(state, ty): &(&State, &TensorType)| {
        let dims = state.dims.iter().zip(&*ty.dims);
        let dim = |(dim, &size): (&Dim, &usize)| DimSharding::closed(axes.refs(axes.whole_axes(&dim.atoms, size)));
        TensorSharding {
            mesh: axes.mesh_ref(),
            dims: dims.map(dim).collect(),
            replicated: Vec::new(),
            unreduced: Vec::new(),
        }
    };
    ManualComputation {
        in_shardings: operands.iter().map(sharding).collect(),
        out_shardings: Vec::new(),
        manual_axes: axes.names().collect(),
    }
}

/// Gives those calls of `targets` that have no rule the rule of calls with batch dimensions: the leading dimensions
/// that all operands and results share. Returns whether any call has a rule.
pub(super) fn add_batch_rules(module: &mut Module, targets: &dyn Fn(&str) -> bool) -> bool {
    fn visit(region: &mut Region, values: &[Type], targets: &dyn Fn(&str) -> bool) -> bool {
        let mut any = false;
        for op in &mut region.ops {
            for region in &mut op.regions {
                any |= visit(region, values, targets);
            }
            let tensors = |list: &[ValueId]| list.iter().map(|&value| values[value.0 as usize].tensor()).collect();
            let types: (Option<Vec<_>>, Option<Vec<_>>) = (tensors(&op.operands), tensors(&op.results));
            let OpKind::CustomCall(call) = &mut op.kind else { continue };
            if rules::custom(call).is_none()
                && targets(&call.target)
                && let (Some(operands), Some(results)) = types
            {
                let rule = Attribute::ShardingRule(Box::new(batch_rule(&operands, &results)));
                call.attributes.push((RULE.into(), rule));
                call.attributes.sort_by(|(left, _), (right, _)| left.cmp(right));
            }
            any |= rules::custom(call).is_some();
        }
        any
    }
    let Func { body, values, .. } = &mut module.funcs[module.entry.0 as usize];
    visit(body, values, targets)
}

/// The rule of a call with batch dimensions.
fn batch_rule(operands: &[&TensorType], results: &[&TensorType]) -> ShardingRule {
    let all = || operands.iter().chain(results);
    let rank = all().map(|ty| ty.rank()).min().unwrap_or(0);
    let common = |&dim: &usize| all().all(|ty| Some(ty.dims[dim]) == results.first().map(|first| first.dims[dim]));
    let batch = (0..rank).take_while(common).count();
    let mut factors: Vec<usize> = results.first().map(|ty| ty.dims[..batch].to_vec()).unwrap_or_default();
    let mut mappings = |types: &[&TensorType]| -> Vec<TensorMapping> {
        let mapping = |ty: &&TensorType| {
            let dim = |dim: usize| {
                if dim < batch {
                    return vec![dim];
                }
                factors.push(ty.dims[dim]);
                vec![factors.len() - 1]
            };
            (0..ty.rank()).map(dim).collect()
        };
        types.iter().map(mapping).collect()
    };
    let (operands, results) = (mappings(operands), mappings(results));
    let need_replication = (batch..factors.len()).collect();
    ShardingRule { factors, operands, results, need_replication, ..ShardingRule::default() }
}

/// The results of a call that are sums over its parts.
fn sums(call: &CustomCall) -> Vec<usize> {
    let frontend = call.attributes.iter().find(|(name, _)| name == "mhlo.frontend_attributes");
    let text = frontend.and_then(|(_, attributes)| attributes.get(SUMS)?.as_str()).unwrap_or_default();
    text.split(',').filter_map(|index| index.parse().ok()).collect()
}

/// The per-device computation for a call with this rule, if it can run on shards. `states` are those of operands, then
/// of results.
pub(super) fn computation(
    call: &CustomCall,
    rule: &ShardingRule,
    axes: &Axes<'_>,
    states: &[Option<State>],
) -> Option<ManualComputation> {
    let sums = sums(call);
    let mappings: Vec<&TensorMapping> = rule.operands.iter().chain(&rule.results).collect();
    let special = [&rule.reduction, &rule.need_replication, &rule.permutation];
    let mut split: BTreeMap<usize, Vec<Atom>> = BTreeMap::new();
    for factor in (0..rule.factors.len()).filter(|factor| special.iter().all(|factors| !factors.contains(factor))) {
        let shared = mappings.iter().copied().flatten().any(|dim| dim.len() > 1 && dim.contains(&factor));
        // A part of a call gives a part of each result or, of a sum, a summand.
        let has = |mapping: &TensorMapping| mapping.iter().any(|factors| factors.contains(&factor));
        let fits = |(index, mapping)| has(mapping) || sums.contains(&index);
        if !rule.operands.iter().any(has) || !rule.results.iter().enumerate().all(fits) {
            continue;
        }
        // Results come first: the shards exist for them.
        let tensors = states.iter().zip(&mappings).rev();
        let atoms = tensors.filter_map(|(state, mapping)| {
            let dim = mapping.iter().position(|dim| *dim == [factor])?;
            Some(&state.as_ref()?.dims.get(dim)?.atoms)
        });
        let Some(atoms) = atoms.max_by_key(|atoms| atoms.len()).filter(|_| !shared) else { continue };
        let atoms = axes.whole_axes(atoms, rule.factors[factor]);
        let taken = split.values().flatten().any(|atom| atoms.contains(atom));
        if !atoms.is_empty() && !taken {
            split.insert(factor, atoms.to_vec());
        }
    }
    if split.is_empty() {
        return None;
    }
    let sharding = |mapping: &TensorMapping| {
        let dim = |factors: &Vec<usize>| {
            let atoms = factors.first().and_then(|factor| split.get(factor));
            DimSharding::closed(atoms.map(|atoms| axes.refs(atoms)).unwrap_or_default())
        };
        TensorSharding {
            mesh: axes.mesh_ref(),
            dims: mapping.iter().map(dim).collect(),
            replicated: Vec::new(),
            unreduced: Vec::new(),
        }
    };
    let result = |(index, mapping): (usize, &TensorMapping)| {
        let unreduced = if sums.contains(&index) {
            split.values().flat_map(|atoms| axes.refs(atoms)).collect()
        } else {
            Vec::new()
        };
        TensorSharding { unreduced, ..sharding(mapping) }
    };
    let used: Vec<Atom> = split.values().flatten().copied().collect();
    Some(ManualComputation {
        in_shardings: rule.operands.iter().map(sharding).collect(),
        out_shardings: rule.results.iter().enumerate().map(result).collect(),
        manual_axes: axes
            .names()
            .filter(|name| axes.named(std::slice::from_ref(name)).iter().any(|atom| used.contains(atom)))
            .collect(),
    })
}

/// The address of a call in a module whose ops do not move.
pub(super) type Place = *const Op;

/// Turns calls into per-device computations.
pub(super) fn split(module: &mut Module, mut computations: HashMap<Place, ManualComputation>) {
    let meshes = module.clone();
    let Func { body, values, .. } = &mut module.funcs[module.entry.0 as usize];
    visit(body, values, &meshes, &mut computations);
}

fn visit(
    region: &mut Region,
    values: &mut Vec<Type>,
    module: &Module,
    computations: &mut HashMap<Place, ManualComputation>,
) {
    for op in &mut region.ops {
        for region in &mut op.regions {
            visit(region, values, module, computations);
        }
        if let Some(manual) = computations.remove(&std::ptr::from_ref(op)) {
            wrap(op, manual, values, module);
        }
    }
}

/// Wraps a call in a per-device computation, in which it has the types of the shards.
fn wrap(op: &mut Op, manual: ManualComputation, values: &mut Vec<Type>, module: &Module) {
    let mut local = |list: &[ValueId], shardings: &[TensorSharding]| -> Vec<ValueId> {
        let part = |(&value, sharding): (&ValueId, &TensorSharding)| {
            let ty = &values[value.0 as usize];
            let ty = match (ty.tensor(), module.mesh(&sharding.mesh)) {
                (Some(tensor), Ok(mesh)) => {
                    let tiles = sharding.tiles(mesh, |_| true);
                    let dims = tensor.dims.iter().zip(tiles).map(|(&size, tiles)| size / tiles);
                    TensorType::new(tensor.element, dims).into()
                }
                _ => ty.clone(),
            };
            values.push(ty);
            ValueId((values.len() - 1) as u32)
        };
        list.iter().zip(shardings).map(part).collect()
    };
    let params = local(&op.operands, &manual.in_shardings);
    let results = local(&op.results, &manual.out_shardings);
    let mut call = Op { operands: params.clone(), results: results.clone(), ..op.clone() };
    if let OpKind::CustomCall(call) = &mut call.kind {
        call.attributes.retain(|(name, _)| name != RULE && name != PARTITIONED && name != "sdy.sharding");
    }
    op.kind = OpKind::ManualComputation(Box::new(manual));
    op.regions = vec![Region { params, ops: vec![call], results }];
}

/// Whether a call with a rule may run once for each shard.
pub(super) fn may_split(call: &CustomCall) -> bool {
    !call.has_side_effect && rules::custom(call).is_some()
}
