//! Buffer assignment: the storage of each value, and the steps over the storages.

mod branch;

use std::collections::HashSet;

use oxcall_hlo::ValueId;

use super::graph::{Block, Carried, Compute, Graph, Node, Position, Source, Value, While, Work};
use super::liveness::LastUses;
use super::storage::{Kind, StorageId, Storages};
use super::{Args, Parameter, Step};

/// The steps, whose slots are the ids of storages, not yet of roots.
pub(super) struct Placed {
    pub(super) steps: Vec<Step>,
    pub(super) slots: Vec<u32>,
    /// What the storages in `slots` are used for: values of the IR.
    pub(super) values: Vec<Option<ValueId>>,
    pub(super) storages: Storages,
    pub(super) results: Vec<StorageId>,
}

/// Places all values of `graph`, whose blocks it takes.
pub(super) fn place(graph: &mut Graph, last: &LastUses, parameters: &[Parameter]) -> Placed {
    let body = std::mem::take(&mut graph.body);
    let mut placer = Placer::new(graph, last, parameters);
    placer.block(body);
    let results = placer.results();
    let Placer { steps, slots, values, storages, .. } = placer;
    Placed { steps, slots, values, storages, results }
}

struct Placer<'g> {
    graph: &'g Graph,
    last: &'g LastUses,
    /// The open branches: the first value that is defined inside, the end of all branches, and the branch's index.
    branches: Vec<(Value, Position, usize)>,
    /// The number of branches that were opened.
    opened: usize,
    storages: Storages,
    /// The storage of each value, once it is defined.
    places: Vec<StorageId>,
    /// For each value that is a result of the program: its index.
    result_of: Vec<Option<usize>>,
    /// Storages of arguments that the caller gives up, and the results that are to have them.
    donors: Vec<(StorageId, Option<usize>)>,
    steps: Vec<Step>,
    slots: Vec<u32>,
    values: Vec<Option<ValueId>>,
}

/// The storage of values without bytes.
const EMPTY: StorageId = StorageId(0);

impl<'g> Placer<'g> {
    fn new(graph: &'g Graph, last: &'g LastUses, parameters: &[Parameter]) -> Placer<'g> {
        let mut storages = Storages::default();
        storages.add(Kind::Empty, 0, 0, false);
        let mut donors = Vec::new();
        let mut places = vec![EMPTY; graph.values.len()];
        for (index, info) in graph.values.iter().enumerate().filter(|(_, info)| info.bytes > 0) {
            let (kind, donated) = match info.source {
                Source::Computed => continue,
                Source::Parameter(parameter) => (Kind::Parameter(parameter), parameters[parameter as usize].donated),
                Source::Constant(constant) => (Kind::Constant(constant), false),
                Source::Id(id) => (Kind::Id(id), false),
            };
            let id = storages.add(kind, info.bytes, 0, donated);
            storages.set_busy_until(id, last.anywhere[index]);
            places[index] = id;
            if let Source::Parameter(parameter) = info.source
                && donated
            {
                donors.push((id, parameters[parameter as usize].aliases));
            }
        }
        let mut result_of = vec![None; graph.values.len()];
        for (index, value) in graph.results.iter().enumerate() {
            result_of[value.index()] = Some(index);
        }
        let (steps, slots, values) = (Vec::new(), Vec::new(), Vec::new());
        let branches = Vec::new();
        Placer { graph, last, branches, opened: 0, storages, places, result_of, donors, steps, slots, values }
    }

    fn bytes(&self, value: Value) -> usize {
        self.graph.info(value).bytes
    }

    fn storage(&self, value: Value) -> StorageId {
        self.storages.root(self.places[value.index()])
    }

    /// The last use of `value` on the ways that lead on from here: what other branches do does not matter.
    fn last(&self, value: Value) -> Position {
        let mut last = self.last.anywhere[value.index()];
        for &(first, end, branch) in &self.branches {
            if value.0 >= first.0 {
                continue;
            }
            if last > end {
                break;
            }
            last = self.last.in_branch[branch].get(&value.0).copied().unwrap_or(0);
        }
        last
    }

    /// The last use of `value`, which is defined at `at`.
    fn last_use(&self, value: Value, at: Position) -> Position {
        self.last(value).max(at)
    }

    /// Keeps `value` in `storage` from `at` on.
    fn keep(&mut self, value: Value, storage: StorageId, at: Position) {
        self.places[value.index()] = storage;
        if storage != EMPTY {
            self.storages.hold(storage, at, self.last_use(value, at));
        }
    }

    /// Whether the memory of `value` is free for another one from `at` on, `at` being its last use.
    fn is_free_after(&self, value: Value, at: Position) -> bool {
        let storage = self.storage(value);
        self.storages.is_writable(storage) && self.last(value) == at && self.storages.busy_until(storage) == at
    }

    /// A storage for `value`, which is defined at `at`: that of an argument which the caller gives up, if it is for a
    /// result, or a new one.
    fn storage_for(&mut self, value: Value, at: Position) -> StorageId {
        match self.bytes(value) {
            0 => EMPTY,
            bytes => self.donor(value, at).unwrap_or_else(|| self.storages.add(Kind::New, bytes, at, true)),
        }
    }

    /// The storage of an argument that the caller gives up, if `value` is a result that may have it from `at` on.
    fn donor(&self, value: Value, at: Position) -> Option<StorageId> {
        let result = self.result_of[value.index()]?;
        let usable = |(id, wanted): &&(StorageId, Option<usize>)| {
            let dead = self.storages.busy_until(*id) < at;
            let mine = wanted.is_none_or(|wanted| wanted == result);
            mine && dead && self.storages.bytes(*id) == self.bytes(value) && self.storages.kind(*id) != Kind::New
        };
        let best = self.donors.iter().filter(usable).max_by_key(|(_, wanted)| *wanted == Some(result));
        best.map(|&(id, _)| id)
    }

    fn args(&mut self, inputs: &[StorageId], outputs: &[StorageId], in_place: u64) -> Args {
        let first = self.slots.len() as u32;
        self.slots.extend(inputs.iter().chain(outputs).map(|id| id.0));
        Args { first, inputs: inputs.len() as u32, outputs: outputs.len() as u32, in_place }
    }

    fn copy(&mut self, from: StorageId, to: StorageId) {
        if from != to {
            self.steps.push(Step::Copy { from: from.0, to: to.0 });
        }
    }

    fn block(&mut self, block: Block) {
        for node in block.nodes {
            match node {
                Node::Compute(compute) => self.compute(compute),
                Node::While(each) => self.repeat(*each),
                Node::Switch(each) => self.switch(*each),
            }
        }
    }

    fn compute(&mut self, compute: Compute) {
        let Compute { at, work, inputs, outputs, aliases, must_alias } = compute;
        let mut places: Vec<StorageId> = inputs.iter().map(|&input| self.storage(input)).collect();
        let mut targets: Vec<Option<StorageId>> = vec![None; outputs.len()];
        let mut in_place = 0u64;
        for (input, output) in aliases {
            let value = inputs[input];
            let fits = self.bytes(value) == self.bytes(outputs[output]) && self.bytes(value) > 0;
            if !fits || targets[output].is_some() || input >= 64 || in_place >> input & 1 == 1 {
                continue;
            }
            let single = inputs.iter().filter(|&&other| other == value).count() == 1;
            if single && self.is_free_after(value, at) {
                targets[output] = Some(places[input]);
                in_place |= 1 << input;
            } else if must_alias {
                let own = self.storage_for(outputs[output], at);
                self.storages.hold(own, at, at);
                self.copy(places[input], own);
                (targets[output], places[input]) = (Some(own), own);
                in_place |= 1 << input;
            }
        }
        let mut stored = Vec::with_capacity(outputs.len());
        for (&output, target) in outputs.iter().zip(targets) {
            let storage = target.unwrap_or_else(|| self.storage_for(output, at));
            self.keep(output, storage, at);
            stored.push(storage);
        }
        let args = self.args(&places, &stored, in_place);
        let graph = self.graph;
        self.values.extend(inputs.iter().chain(&outputs).map(|&value| graph.info(value).of));
        self.steps.push(match work {
            Work::Kernel(kernel) => Step::Kernel { kernel, args },
            Work::Call(site) => Step::Call { site, args },
            Work::Meet(site) => Step::Meet { site, args },
            Work::Manual(site) => Step::Manual { site, args },
        });
    }

    fn here(&self) -> u32 {
        self.steps.len() as u32
    }

    /// A loop. The carried values stay in one slot each; at the end of an iteration the slots of new values and old
    /// ones exchange their places.
    fn repeat(&mut self, each: While) {
        let While { start, decided: _, end, carried, cond, predicate, body } = each;
        let carried: Vec<Carried> = carried.into_iter().filter(|carried| self.bytes(carried.init) > 0).collect();
        let mut homes = Vec::with_capacity(carried.len());
        for each in &carried {
            let single = carried.iter().filter(|other| other.init == each.init).count() == 1;
            let from = self.storage(each.init);
            let home = if single && self.is_free_after(each.init, start) {
                from
            } else {
                let home = self.storage_for(each.result, start);
                self.storages.hold(home, start, end);
                self.copy(from, home);
                home
            };
            self.keep(each.result, home, start);
            self.storages.hold(home, start, end.max(self.last_use(each.result, end)));
            (self.places[each.in_cond.index()], self.places[each.in_body.index()]) = (home, home);
            homes.push(home);
        }
        let again = self.here();
        self.block(cond);
        let exit = self.steps.len();
        self.steps.push(Step::JumpUnless { predicate: self.storage(predicate).0, target: 0 });
        for (each, &home) in carried.iter().zip(&homes) {
            self.storages.set_busy_until(home, self.last(each.in_body));
        }
        let inside = self.storages.next();
        self.block(body);
        let mut taken = HashSet::new();
        let mut nexts = Vec::with_capacity(carried.len());
        for each in &carried {
            let next = self.storage(each.next);
            let ours = next >= inside || homes.contains(&next);
            nexts.push(if ours && taken.insert(next.0) {
                next
            } else {
                let copy = self.storages.add(Kind::New, self.bytes(each.next), end, true);
                self.storages.hold(copy, end, end);
                self.copy(next, copy);
                copy
            });
        }
        self.rotate(&homes, &nexts);
        self.steps.push(Step::Jump(again));
        let target = self.here();
        self.steps[exit] = match self.steps[exit] {
            Step::JumpUnless { predicate, .. } => Step::JumpUnless { predicate, target },
            _ => unreachable!("the exit of the loop is a jump"),
        };
        for (each, &home) in carried.iter().zip(&homes) {
            self.storages.set_busy_until(home, self.last_use(each.result, end));
        }
    }

    /// Gives each of `homes` the place of the storage in `nexts`, and these what is left over.
    fn rotate(&mut self, homes: &[StorageId], nexts: &[StorageId]) {
        let next_of = |id: StorageId| homes.iter().position(|&home| home == id).map(|index| nexts[index]);
        let mut done: HashSet<u32> = HashSet::new();
        // Chains that begin with a home whose old place nobody takes, then the cycles.
        let is_start = |home: &&StorageId| !nexts.contains(home);
        let order: Vec<StorageId> = homes.iter().filter(is_start).chain(homes).copied().collect();
        for first in order {
            let mut chain = Vec::new();
            let mut at = Some(first);
            while let Some(id) = at.filter(|id| done.insert(id.0)) {
                chain.push(id);
                at = next_of(id);
            }
            for pair in chain.windows(2) {
                self.storages.exchange(pair[0], pair[1]);
            }
            if chain.len() > 1 {
                self.steps.push(Step::Rotate(chain.iter().map(|id| id.0).collect()));
            }
        }
    }

    /// The storages of the program's results: each its own, and the caller's to keep.
    fn results(&mut self) -> Vec<StorageId> {
        let mut taken = HashSet::new();
        let mut results = Vec::with_capacity(self.graph.results.len());
        for &value in &self.graph.results {
            let from = self.storage(value);
            let ours = from != EMPTY && self.storages.is_writable(from) && taken.insert(from.0);
            let storage = if ours || from == EMPTY {
                from
            } else {
                let copy = self.storages.add(Kind::New, self.bytes(value), self.graph.end, true);
                self.storages.hold(copy, self.graph.end, self.graph.end);
                self.copy(from, copy);
                copy
            };
            if storage != EMPTY {
                self.storages.set_result(storage);
            }
            results.push(storage);
        }
        results
    }
}
