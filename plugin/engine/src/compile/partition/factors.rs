//! Propagation through one op: from the shardings of its operands and results to axes of the factors of its rule, and
//! back.

use oxcall_hlo::sharding::{ShardingRule, TensorMapping};

use super::axes::{Atom, Axes, State};

/// The sides of an op from which axes may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    None,
    Forward,
    Backward,
    Both,
}

impl Direction {
    /// Both directions combined.
    pub(super) fn or(self, other: Direction) -> Direction {
        match (self, other) {
            (Direction::None, other) => other,
            (own, Direction::None) => own,
            (own, other) if own == other => own,
            _ => Direction::Both,
        }
    }
}

/// The axes of one factor in one tensor.
#[derive(Debug, Clone, Default)]
struct FactorSharding {
    atoms: Vec<Atom>,
    closed: bool,
    /// Whether it is the last factor of its dimension.
    minor_most: bool,
    /// Axes that split the dimension further, but neither this factor nor the next.
    overflow: Vec<Atom>,
}

/// A tensor in terms of the factors of a rule.
#[derive(Debug)]
struct Projected {
    factors: Vec<Option<FactorSharding>>,
    replicated: Vec<Atom>,
    /// The number of elements; saturates.
    size: usize,
}

/// Propagates axes among the operands and results of an op, whose states `states` gives in this order. Tensors without
/// a state neither give nor take axes. Returns which of them changed.
pub(super) fn spread(
    rule: &ShardingRule,
    axes: &Axes<'_>,
    states: &mut [Option<State>],
    direction: impl Fn(usize) -> Direction,
) -> bool {
    let mappings: Vec<&TensorMapping> = rule.operands.iter().chain(&rule.results).collect();
    let mut projected: Vec<Option<Projected>> = states
        .iter()
        .zip(&mappings)
        .map(|(state, mapping)| Some(project(rule, axes, state.as_ref()?, mapping)))
        .collect();
    let (operands, results) = projected.split_at(rule.operands.len());
    let mut new: Vec<(usize, Vec<Atom>)> = (0..rule.factors.len())
        .map(|factor| match direction(factor) {
            Direction::None => Vec::new(),
            _ if rule.blocked_propagation.contains(&factor) => Vec::new(),
            Direction::Both => major_axes(factor, operands.iter().chain(results), &[]),
            Direction::Forward => major_axes(factor, operands.iter(), results),
            Direction::Backward => major_axes(factor, results.iter(), operands),
        })
        .enumerate()
        .filter(|(_, atoms)| !atoms.is_empty())
        .collect();
    // Where factors compete for an axis, the one of the largest tensor wins.
    let source_size = |(factor, atoms): &(usize, Vec<Atom>)| {
        let has = |tensor: &&Projected| tensor.factors[*factor].as_ref().is_some_and(|own| own.atoms == *atoms);
        projected.iter().flatten().filter(has).map(|tensor| tensor.size).max()
    };
    new.sort_by_cached_key(|each| std::cmp::Reverse(source_size(each)));
    let mut changed = false;
    for ((state, mapping), tensor) in states.iter_mut().zip(&mappings).zip(&mut projected) {
        let (Some(state), Some(tensor)) = (state, tensor) else { continue };
        let mut grown = false;
        for (factor, atoms) in &new {
            grown |= tensor.grow(rule, axes, *factor, atoms);
        }
        changed |= grown && tensor.write(rule, axes, state, mapping);
    }
    changed
}

impl Projected {
    /// Gives a factor these axes, as far as nothing prevents it. Returns whether it has more axes than before.
    fn grow(&mut self, rule: &ShardingRule, axes: &Axes<'_>, factor: usize, atoms: &[Atom]) -> bool {
        let Some(own) = &self.factors[factor] else { return false };
        let fits = &atoms[..fitting(axes, rule.factors[factor], &self.replicated, own, atoms)];
        if fits.len() <= own.atoms.len() || !fits.starts_with(&own.atoms) {
            return false;
        }
        let others = self.factors.iter().enumerate().filter(|&(other, _)| other != factor);
        let taken: Vec<Atom> = others
            .filter_map(|(_, sharding)| sharding.as_ref())
            .flat_map(|sharding| sharding.atoms.iter().chain(&sharding.overflow).copied())
            .collect();
        let free = fits.iter().take_while(|atom| !taken.contains(atom)).count();
        if free <= own.atoms.len() {
            return false;
        }
        if let Some(own) = &mut self.factors[factor] {
            own.atoms = fits[..free].to_vec();
        }
        true
    }

    /// Assembles the dimensions again. Returns whether anything changed.
    fn write(&self, rule: &ShardingRule, axes: &Axes<'_>, state: &mut State, mapping: &TensorMapping) -> bool {
        let mut changed = false;
        for (dim, dim_factors) in state.dims.iter_mut().zip(mapping) {
            let mut atoms = Vec::new();
            for &factor in dim_factors {
                let Some(sharding) = &self.factors[factor] else { continue };
                atoms.extend_from_slice(&sharding.atoms);
                atoms.extend_from_slice(&sharding.overflow);
                // Further axes must split the same parts in the same way.
                if axes.product(&sharding.atoms) != rule.factors[factor] {
                    break;
                }
            }
            if atoms.len() > dim.atoms.len() {
                dim.atoms = atoms;
                changed = true;
            }
        }
        changed
    }
}

/// The axes of each factor in a tensor: the axes of a dimension fill its factors one after another.
fn project(rule: &ShardingRule, axes: &Axes<'_>, state: &State, mapping: &TensorMapping) -> Projected {
    let mut factors = vec![None; rule.factors.len()];
    for (dim, dim_factors) in state.dims.iter().zip(mapping) {
        let mut rest = &dim.atoms[..];
        for (index, &factor) in dim_factors.iter().enumerate() {
            let minor_most = index + 1 == dim_factors.len();
            let mut sharding = FactorSharding { closed: dim.closed, minor_most, ..FactorSharding::default() };
            let mut left = rule.factors[factor];
            while let [atom, others @ ..] = rest {
                let size = axes.size(*atom);
                if !minor_most && left == 1 {
                    break;
                }
                if !minor_most && !left.is_multiple_of(size) {
                    sharding.overflow = std::mem::take(&mut rest).to_vec();
                    break;
                }
                sharding.atoms.push(*atom);
                left = left.div_ceil(size);
                rest = others;
            }
            factors[factor] = Some(sharding);
        }
    }
    let size = mapping.iter().flatten().fold(1usize, |size, &factor| size.saturating_mul(rule.factors[factor]));
    Projected { factors, replicated: state.replicated.clone(), size }
}

/// The axes that a factor has in all `sources`, extended by the longer ones; where two disagree, the axes before that.
/// Axes of `others` may limit the result, but do not extend it.
fn major_axes<'p>(
    factor: usize,
    sources: impl Iterator<Item = &'p Option<Projected>>,
    others: &'p [Option<Projected>],
) -> Vec<Atom> {
    let (mut result, mut can_grow) = (Vec::<Atom>::new(), true);
    let sides = sources.map(|tensor| (tensor, true)).chain(others.iter().map(|tensor| (tensor, false)));
    for (tensor, source) in sides {
        let Some(sharding) = tensor.as_ref().and_then(|tensor| tensor.factors[factor].as_ref()) else { continue };
        let common = result.iter().zip(&sharding.atoms).take_while(|(old, new)| old == new).count();
        if common < result.len().min(sharding.atoms.len()) {
            result.truncate(common);
            can_grow = false;
        } else if can_grow && source {
            result.extend_from_slice(&sharding.atoms[common..]);
        }
    }
    result
}

/// The number of leading `atoms` that a factor of a tensor has or can get.
fn fitting(axes: &Axes<'_>, size: usize, replicated: &[Atom], own: &FactorSharding, atoms: &[Atom]) -> usize {
    let mut sharded = 1;
    for (index, atom) in atoms.iter().enumerate() {
        sharded *= axes.size(*atom);
        let has = own.atoms.contains(atom);
        let can_grow = !own.closed && own.overflow.is_empty() && (own.minor_most || size.is_multiple_of(sharded));
        if replicated.contains(atom) || !(has || can_grow) {
            return index;
        }
    }
    atoms.len()
}
