//! Programs as tensors, with rules between them.

use std::collections::{BTreeSet, HashMap, HashSet};

use oxcall_hlo::sharding::{ManualComputation, ShardingRule, TensorSharding, Tiling};
use oxcall_hlo::{CustomCall, Func, Module, Op, OpKind, Region, TensorType, ValueId};

use super::axes::{Atom, Axes, Dim, State};
use super::calls::{self, Place};
use super::factors::{Direction, spread};
use super::rules;

/// The state of each tensor, and the nodes through which axes propagate.
pub(super) struct Graph<'a> {
    axes: &'a Axes<'a>,
    func: &'a Func,
    /// The states of values, then of the program's results, then of operands of per-device computations.
    states: Vec<Option<State>>,
    nodes: Vec<Node>,
    /// Custom calls that may run on shards, and their nodes.
    calls: Vec<(&'a Op, usize)>,
    /// Custom calls that ask for shardings.
    observers: Vec<Observer<'a>>,
    /// Whether the ops that are being added belong to a per-device computation.
    per_device: bool,
    /// Values computed from constants only. For shardings, each use has its own copy.
    constants: HashSet<ValueId>,
    /// The first value of each group of values that share a sharding.
    groups: HashMap<i64, ValueId>,
    /// All values in groups: these do not count as constants.
    grouped: HashSet<ValueId>,
}

struct Observer<'a> {
    op: &'a Op,
    call: &'a CustomCall,
    per_device: bool,
}

struct Node {
    rule: ShardingRule,
    /// The states of operands, then of results; `None` for a tensor that takes no part.
    tensors: Vec<Option<usize>>,
    class: Class,
}

/// The rounds in which axes propagate through an op, and the directions. Ops that determine the most about other
/// tensors come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// In the first round, both ways.
    PassThrough,
    /// In the first round to results; later both ways.
    Forward,
    /// Later, and to operands first.
    Broadcast,
    /// Later.
    Other,
}

/// The number of rounds of [`direction`].
const ROUNDS: usize = 3;

/// The direction in which axes of a factor propagate through an op in a round.
fn direction(node: &Node, factor: usize, round: usize) -> Direction {
    let rule = &node.rule;
    let at_once = match node.class {
        Class::PassThrough => Direction::Both,
        Class::Forward => Direction::Forward,
        Class::Broadcast | Class::Other => Direction::None,
    };
    let special = [&rule.reduction, &rule.need_replication, &rule.permutation];
    let second = match node.class {
        _ if special.iter().any(|factors| factors.contains(&factor)) => Direction::None,
        Class::Broadcast => Direction::Backward,
        _ => Direction::Both,
    };
    match round {
        0 => at_once,
        1 => at_once.or(second),
        _ => Direction::Both,
    }
}

impl<'a> Graph<'a> {
    /// The graph of a program without calls. `params` and `results` are the states of its parameters and results.
    pub(super) fn new(module: &'a Module, axes: &'a Axes<'a>, params: &[State], results: &[State]) -> Graph<'a> {
        let func = module.main();
        let mut states: Vec<Option<State>> =
            func.values.iter().map(|ty| ty.tensor().map(|ty| State::open(ty.rank()))).collect();
        for (param, state) in func.body.params.iter().zip(params) {
            states[param.0 as usize] = Some(state.clone());
        }
        let mut graph = Graph {
            axes,
            func,
            states,
            nodes: Vec::new(),
            calls: Vec::new(),
            observers: Vec::new(),
            per_device: false,
            constants: HashSet::new(),
            groups: HashMap::new(),
            grouped: HashSet::new(),
        };
        add_grouped(&func.body, &mut graph.grouped);
        for (&value, state) in func.body.results.iter().zip(results) {
            let result = graph.add(state.clone());
            graph.edge(&[value], &[], result);
        }
        graph.region(&func.body);
        graph
    }

    /// The tiling of a parameter of these dimensions.
    pub(super) fn parameter(&self, index: usize, dims: &[usize]) -> Tiling {
        self.tiling(self.func.body.params[index].0 as usize, dims)
    }

    /// The tiling of a result of these dimensions.
    pub(super) fn result(&self, index: usize, dims: &[usize]) -> Tiling {
        self.tiling(self.func.values.len() + index, dims)
    }

    fn tiling(&self, index: usize, dims: &[usize]) -> Tiling {
        self.axes.tiling(&self.states[index].clone().unwrap_or_default(), dims)
    }

    fn add(&mut self, state: State) -> usize {
        self.states.push(Some(state));
        self.states.len() - 1
    }

    fn tensor(&self, value: ValueId) -> Option<&'a TensorType> {
        self.func.ty(value).tensor()
    }

    /// The state of a value at a use.
    fn used(&self, value: ValueId) -> Option<usize> {
        (!self.constants.contains(&value)).then_some(value.0 as usize)
    }

    /// Makes all of these one tensor: values, and the state `extra`.
    fn edge(&mut self, sources: &[ValueId], targets: &[ValueId], extra: usize) {
        let tensors: Vec<_> =
            sources.iter().chain(targets).map(|&value| self.used(value)).chain([Some(extra)]).collect();
        self.identity(tensors, sources.len());
    }

    fn identity(&mut self, tensors: Vec<Option<usize>>, operands: usize) {
        let Some(rank) = tensors.iter().flatten().find_map(|&index| Some(self.states[index].as_ref()?.dims.len()))
        else {
            return;
        };
        let mapping: Vec<Vec<usize>> = (0..rank).map(|dim| vec![dim]).collect();
        let rule = ShardingRule {
            // Any axes may split it: the tensor that has the dimension decides which ones divide it.
            factors: vec![0; rank],
            operands: vec![mapping.clone(); operands],
            results: vec![mapping; tensors.len() - operands],
            ..ShardingRule::default()
        };
        self.nodes.push(Node { rule, tensors, class: Class::PassThrough });
    }

    /// Makes the values at the same place of each list one tensor.
    fn same(&mut self, groups: &[&[ValueId]]) {
        let Some(count) = groups.iter().map(|group| group.len()).min() else { return };
        for index in 0..count {
            let tensors = groups.iter().map(|group| self.used(group[index])).collect();
            self.identity(tensors, 1);
        }
    }

    fn region(&mut self, region: &'a Region) {
        for op in &region.ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: &'a Op) {
        let from_constants = op.operands.iter().all(|operand| self.constants.contains(operand));
        let expression = matches!(op.kind, OpKind::Constant(_) | OpKind::Iota { .. } | OpKind::BroadcastInDim { .. })
            || matches!(op.kind, OpKind::Reshape | OpKind::Slice { .. })
            || (rules::is_pointwise(&op.kind) && !matches!(op.kind, OpKind::ShardingConstraint(_)));
        if from_constants && expression && !op.results.iter().any(|result| self.grouped.contains(result)) {
            self.constants.extend(&op.results);
            return;
        }
        match (&op.kind, &*op.regions) {
            (OpKind::While, [condition, body]) => {
                self.same(&[&op.operands, &op.results, &condition.params, &body.params, &body.results]);
                self.region(body);
            }
            (OpKind::If | OpKind::Case, branches) => {
                for branch in branches {
                    self.same(&[&branch.results, &op.results]);
                    self.region(branch);
                }
            }
            (OpKind::CustomCall(call), _) if calls::observes(call, &op.results) => {
                self.observers.push(Observer { op, call, per_device: self.per_device });
            }
            (OpKind::CustomCall(call), _) if call.is_identity() && self.are_alike(&op.operands, &op.results) => {
                self.same(&[&op.operands, &op.results]);
            }
            (OpKind::OptimizationBarrier, _) => self.same(&[&op.operands, &op.results]),
            (OpKind::ManualComputation(manual), _) => self.manual(op, manual),
            (OpKind::ShardingGroup { id }, _) => {
                let first = *self.groups.entry(*id).or_insert(op.operands[0]);
                self.same(&[&[first], &op.operands]);
            }
            (OpKind::ShardingConstraint(sharding), _) => {
                let constraint = self.axes.state(sharding);
                self.rule(op);
                if let Some(state) = constraint {
                    self.states[op.results[0].0 as usize] = Some(state);
                }
            }
            _ => self.rule(op),
        }
    }

    /// Adds the node of an op by its rule.
    fn rule(&mut self, op: &'a Op) {
        let types = |values: &[ValueId]| values.iter().map(|&value| self.tensor(value)).collect::<Option<Vec<_>>>();
        let (Some(operands), Some(results)) = (types(&op.operands), types(&op.results)) else { return };
        let Some(rule) = rules::of(op, &operands, &results) else { return };
        let class = match op.kind {
            ref kind if rules::is_pointwise(kind) => Class::PassThrough,
            OpKind::Reshape | OpKind::Transpose { .. } | OpKind::BitcastConvert => Class::PassThrough,
            OpKind::DynamicSlice { .. } | OpKind::DynamicUpdateSlice => Class::Forward,
            OpKind::BroadcastInDim { .. } => Class::Broadcast,
            _ => Class::Other,
        };
        if let OpKind::CustomCall(call) = &op.kind
            && calls::may_split(call)
        {
            self.calls.push((op, self.nodes.len()));
        }
        let results = op.results.iter().map(|result| Some(result.0 as usize));
        let tensors = op.operands.iter().map(|&operand| self.used(operand)).chain(results).collect();
        self.nodes.push(Node { rule, tensors, class });
    }

    /// Operands and results have the shardings that the computation gives; axes that are not manual propagate through
    /// its region.
    fn manual(&mut self, op: &'a Op, manual: &ManualComputation) {
        let manual_atoms = self.axes.named(&manual.manual_axes);
        // A manual axis that splits nothing holds copies.
        let state = |sharding: &TensorSharding| {
            let mut state = self.axes.state(sharding)?;
            let split = |atom: &Atom| state.dims.iter().any(|dim| dim.atoms.contains(atom));
            let copies: Vec<Atom> = manual_atoms.iter().copied().filter(|atom| !split(atom)).collect();
            state.replicated.extend(copies);
            Some(state)
        };
        let inputs: Vec<_> = manual.in_shardings.iter().map(state).collect();
        let outputs: Vec<_> = manual.out_shardings.iter().map(state).collect();
        for ((&operand, &param), state) in op.operands.iter().zip(&op.regions[0].params).zip(inputs) {
            let Some(state) = state else { continue };
            let inside = self.add(state);
            self.edge(&[operand], &[], inside);
            self.border(inside, param, &manual_atoms);
        }
        for ((&result, &inner), state) in op.results.iter().zip(&op.regions[0].results).zip(outputs) {
            let Some(state) = state else { continue };
            let result = result.0 as usize;
            self.states[result] = Some(state);
            self.border(result, inner, &manual_atoms);
        }
        let outer = std::mem::replace(&mut self.per_device, true);
        self.region(&op.regions[0]);
        self.per_device = outer;
    }

    /// Whether both lists have the same types.
    fn are_alike(&self, some: &[ValueId], others: &[ValueId]) -> bool {
        some.iter().map(|&value| self.tensor(value)).eq(others.iter().map(|&value| self.tensor(value)))
    }

    /// Connects a tensor outside a per-device computation to the one inside, which the manual axes have already split.
    fn border(&mut self, outside: usize, inside: ValueId, manual: &[Atom]) {
        let (Some(ty), Some(state)) = (self.tensor(inside), &self.states[outside]) else { return };
        let rank = ty.rank();
        let manual_size = |dim: &Dim| {
            let atoms = dim.atoms.iter().filter(|atom| manual.contains(atom));
            atoms.map(|&atom| self.axes.size(atom)).product()
        };
        let factors = state.dims.iter().map(manual_size);
        let rule = ShardingRule {
            factors: factors.chain(ty.dims.iter().copied()).collect(),
            operands: vec![(0..rank).map(|dim| vec![dim, rank + dim]).collect()],
            results: vec![(0..rank).map(|dim| vec![rank + dim]).collect()],
            ..ShardingRule::default()
        };
        let tensors = vec![Some(outside), self.used(inside)];
        self.nodes.push(Node { rule, tensors, class: Class::PassThrough });
    }

    /// The custom calls that run on shards.
    pub(super) fn split_calls(&self) -> HashMap<Place, ManualComputation> {
        let computation = |&(op, node): &(&'a Op, usize)| {
            let Node { rule, tensors, .. } = &self.nodes[node];
            let states: Vec<_> =
                tensors.iter().map(|tensor| tensor.and_then(|index| self.states[index].clone())).collect();
            let OpKind::CustomCall(call) = &op.kind else { return None };
            Some((Place::from(op), calls::computation(call, rule, self.axes, &states)?))
        };
        let observer = |observer: &Observer<'a>| {
            let operand = |&value: &ValueId| Some((self.states[value.0 as usize].as_ref()?, self.tensor(value)?));
            let operands: Vec<_> = observer.op.operands.iter().map(operand).collect::<Option<_>>()?;
            Some((Place::from(observer.op), calls::on_each_device(self.axes, &operands)))
        };
        // Inside a per-device computation, each device makes the call anyway.
        let outside = |each: &&Observer<'a>| !each.per_device && each.call.target != calls::INSPECT_SHARDING;
        let observers = self.observers.iter().filter(outside).filter_map(observer);
        self.calls.iter().filter_map(computation).chain(observers).collect()
    }

    /// The calls that ask for the sharding of their operand, with the answers: `None` inside per-device computations.
    pub(super) fn inspections(&self) -> Vec<(CustomCall, Option<Tiling>)> {
        let inspects = |each: &&Observer<'a>| each.call.target == calls::INSPECT_SHARDING;
        let answer = |each: &Observer<'a>| {
            let operand = *each.op.operands.first().filter(|_| !each.per_device)?;
            Some(self.tiling(operand.0 as usize, &self.tensor(operand)?.dims))
        };
        self.observers.iter().filter(inspects).map(|each| (each.call.clone(), answer(each))).collect()
    }

    /// Propagates axes until nothing changes: first those without a priority, then those of each priority.
    pub(super) fn propagate(&mut self) {
        let dims = self.states.iter().flatten().flat_map(|state| &state.dims);
        let priorities: BTreeSet<u64> = dims.filter_map(|dim| Some(dim.later.as_ref()?.priority)).collect();
        self.rounds();
        for priority in priorities {
            for dim in self.states.iter_mut().flatten().flat_map(|state| &mut state.dims) {
                if let Some(later) = dim.later.take_if(|later| later.priority == priority) {
                    // Where other axes came first, they stay.
                    if later.atoms.starts_with(&dim.atoms) {
                        dim.atoms = later.atoms;
                    }
                    dim.closed = later.closed;
                }
            }
            self.rounds();
        }
    }

    fn rounds(&mut self) {
        for round in 0..ROUNDS {
            // Each change adds an axis to a tensor, so this ends.
            while self.sweep(round) {}
        }
    }

    /// Visits all ops once. Returns whether anything changed.
    fn sweep(&mut self, round: usize) -> bool {
        let mut changed = false;
        for node in &self.nodes {
            let mut tensors: Vec<Option<State>> =
                node.tensors.iter().map(|tensor| tensor.and_then(|index| self.states[index].clone())).collect();
            if !spread(&node.rule, self.axes, &mut tensors, |factor| direction(node, factor, round)) {
                continue;
            }
            for (&tensor, state) in node.tensors.iter().zip(tensors) {
                let (Some(index), Some(state)) = (tensor, state) else { continue };
                // An op that uses a tensor twice may want two shardings for it: the first one stays.
                if self.states[index].as_ref().is_none_or(|old| old.axis_count() < state.axis_count()) {
                    self.states[index] = Some(state);
                    changed = true;
                }
            }
        }
        changed
    }
}

/// The values in groups.
fn add_grouped(region: &Region, grouped: &mut HashSet<ValueId>) {
    for op in &region.ops {
        if matches!(op.kind, OpKind::ShardingGroup { .. }) {
            grouped.extend(&op.operands);
        }
        op.regions.iter().for_each(|region| add_grouped(region, grouped));
    }
}
