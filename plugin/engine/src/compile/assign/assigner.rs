//! The assigner: the buffer of each value, and the steps over the buffers.

mod branch;

use std::collections::HashSet;

use oxcall_hlo::ValueId;

use super::buffers::{BufferId, Kind, LogicalBuffers};
use super::liveness::LastUses;
use crate::compile::graph::{Block, Carried, Compute, Graph, Node, Position, Source, Value, While, Work};
use crate::plan::{Args, Parameter, Step};

/// The steps. Their slots are ids of buffers, which may be parts of others.
pub(super) struct Assigned {
    pub(super) steps: Vec<Step>,
    pub(super) slots: Vec<u32>,
    /// The IR values that the buffers in `slots` stand for.
    pub(super) values: Vec<Option<ValueId>>,
    pub(super) buffers: LogicalBuffers,
    pub(super) results: Vec<BufferId>,
}

/// Gives each value of `graph` a buffer, and takes the graph's blocks.
pub(super) fn buffers_of(graph: &mut Graph, last: &LastUses, parameters: &[Parameter]) -> Assigned {
    let body = std::mem::take(&mut graph.body);
    let mut assigner = Assigner::new(graph, last, parameters);
    assigner.block(body);
    let results = assigner.results();
    let Assigner { steps, slots, values, buffers, .. } = assigner;
    Assigned { steps, slots, values, buffers, results }
}

pub(super) struct Assigner<'g> {
    graph: &'g Graph,
    last: &'g LastUses,
    /// The open branches: the first value defined inside, the end of all branches, and the branch's index.
    branches: Vec<(Value, Position, usize)>,
    /// The number of branches opened so far.
    opened: usize,
    buffers: LogicalBuffers,
    /// The buffer of each value, once it is defined.
    buffer_of: Vec<BufferId>,
    /// The result index of each value that is a result of the program.
    result_of: Vec<Option<usize>>,
    /// Buffers of donated arguments, and the results that are to have them.
    donors: Vec<(BufferId, Option<usize>)>,
    steps: Vec<Step>,
    slots: Vec<u32>,
    values: Vec<Option<ValueId>>,
}

/// The buffer of values without bytes.
const EMPTY: BufferId = BufferId(0);

impl<'g> Assigner<'g> {
    fn new(graph: &'g Graph, last: &'g LastUses, parameters: &[Parameter]) -> Assigner<'g> {
        let mut buffers = LogicalBuffers::default();
        buffers.add(Kind::Empty, 0, 0, false);
        let mut donors = Vec::new();
        let mut buffer_of = vec![EMPTY; graph.values.len()];
        for (index, info) in graph.values.iter().enumerate().filter(|(_, info)| info.bytes > 0) {
            let (kind, donated) = match info.source {
                Source::Computed => continue,
                Source::Parameter(parameter) => (Kind::Parameter(parameter), parameters[parameter as usize].donated),
                Source::Constant(constant) => (Kind::Constant(constant), false),
                Source::Id(id) => (Kind::Id(id), false),
            };
            let id = buffers.add(kind, info.bytes, 0, donated);
            buffers.set_busy_until(id, last.anywhere[index]);
            buffer_of[index] = id;
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
        Assigner { graph, last, branches, opened: 0, buffers, buffer_of, result_of, donors, steps, slots, values }
    }

    fn bytes(&self, value: Value) -> usize {
        self.graph.info(value).bytes
    }

    fn buffer(&self, value: Value) -> BufferId {
        self.buffers.root(self.buffer_of[value.index()])
    }

    /// The last use of `value` on the paths from here on: uses in other branches do not count.
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

    /// Keeps `value` in `buffer` from `at` on.
    fn keep(&mut self, value: Value, buffer: BufferId, at: Position) {
        self.buffer_of[value.index()] = buffer;
        if buffer != EMPTY {
            self.buffers.hold(buffer, at, self.last_use(value, at));
        }
    }

    /// Whether the memory of `value` is free from `at` on, where `at` is its last use.
    fn is_free_after(&self, value: Value, at: Position) -> bool {
        let buffer = self.buffer(value);
        self.buffers.is_writable(buffer) && self.last(value) == at && self.buffers.busy_until(buffer) == at
    }

    /// A buffer for `value`, which is defined at `at`: a donated argument's if the value is a result that may have it,
    /// or a new one.
    fn buffer_for(&mut self, value: Value, at: Position) -> BufferId {
        match self.bytes(value) {
            0 => EMPTY,
            bytes => self.donor(value, at).unwrap_or_else(|| self.buffers.add(Kind::New, bytes, at, true)),
        }
    }

    /// The buffer of a donated argument, if `value` is a result that may have it from `at` on.
    fn donor(&self, value: Value, at: Position) -> Option<BufferId> {
        let result = self.result_of[value.index()]?;
        let usable = |(id, wanted): &&(BufferId, Option<usize>)| {
            let dead = self.buffers.busy_until(*id) < at;
            let mine = wanted.is_none_or(|wanted| wanted == result);
            mine && dead && self.buffers.bytes(*id) == self.bytes(value) && self.buffers.kind(*id) != Kind::New
        };
        let best = self.donors.iter().filter(usable).max_by_key(|(_, wanted)| *wanted == Some(result));
        best.map(|&(id, _)| id)
    }

    fn args(&mut self, inputs: &[BufferId], outputs: &[BufferId], in_place: u64) -> Args {
        let first = self.slots.len() as u32;
        self.slots.extend(inputs.iter().chain(outputs).map(|id| id.0));
        Args { first, inputs: inputs.len() as u32, outputs: outputs.len() as u32, in_place }
    }

    fn copy(&mut self, from: BufferId, to: BufferId) {
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
        let mut operands: Vec<BufferId> = inputs.iter().map(|&input| self.buffer(input)).collect();
        let mut targets: Vec<Option<BufferId>> = vec![None; outputs.len()];
        let mut in_place = 0u64;
        for (input, output) in aliases {
            let value = inputs[input];
            let fits = self.bytes(value) == self.bytes(outputs[output]) && self.bytes(value) > 0;
            if !fits || targets[output].is_some() || input >= 64 || in_place >> input & 1 == 1 {
                continue;
            }
            let single = inputs.iter().filter(|&&other| other == value).count() == 1;
            if single && self.is_free_after(value, at) {
                targets[output] = Some(operands[input]);
                in_place |= 1 << input;
            } else if must_alias {
                let own = self.buffer_for(outputs[output], at);
                self.buffers.hold(own, at, at);
                self.copy(operands[input], own);
                (targets[output], operands[input]) = (Some(own), own);
                in_place |= 1 << input;
            }
        }
        let mut stored = Vec::with_capacity(outputs.len());
        for (&output, target) in outputs.iter().zip(targets) {
            let buffer = target.unwrap_or_else(|| self.buffer_for(output, at));
            self.keep(output, buffer, at);
            stored.push(buffer);
        }
        let args = self.args(&operands, &stored, in_place);
        let graph = self.graph;
        self.values.extend(inputs.iter().chain(&outputs).map(|&value| graph.info(value).of));
        self.steps.push(match work {
            Work::Kernel { kernel, flops } => Step::Kernel { kernel, args, flops },
            Work::Call(site) => Step::Call { site, args },
            Work::Collective(site) => Step::Collective { site, args },
            Work::Manual(site) => Step::Manual { site, args },
        });
    }

    fn here(&self) -> u32 {
        self.steps.len() as u32
    }

    /// A loop. Each carried value stays in one slot; at the end of an iteration the slots of new and old values swap
    /// places.
    fn repeat(&mut self, each: While) {
        let While { start, decided: _, end, carried, cond, predicate, body } = each;
        let carried: Vec<Carried> = carried.into_iter().filter(|carried| self.bytes(carried.init) > 0).collect();
        let mut carried_in = Vec::with_capacity(carried.len());
        for each in &carried {
            let single = carried.iter().filter(|other| other.init == each.init).count() == 1;
            let from = self.buffer(each.init);
            let buffer = if single && self.is_free_after(each.init, start) {
                from
            } else {
                let buffer = self.buffer_for(each.result, start);
                self.buffers.hold(buffer, start, end);
                self.copy(from, buffer);
                buffer
            };
            self.keep(each.result, buffer, start);
            self.buffers.hold(buffer, start, end.max(self.last_use(each.result, end)));
            (self.buffer_of[each.in_cond.index()], self.buffer_of[each.in_body.index()]) = (buffer, buffer);
            carried_in.push(buffer);
        }
        let again = self.here();
        self.block(cond);
        let exit = self.steps.len();
        self.steps.push(Step::JumpUnless { predicate: self.buffer(predicate).0, target: 0 });
        for (each, &buffer) in carried.iter().zip(&carried_in) {
            self.buffers.set_busy_until(buffer, self.last(each.in_body));
        }
        let inside = self.buffers.next();
        self.block(body);
        let mut taken = HashSet::new();
        let mut nexts = Vec::with_capacity(carried.len());
        for each in &carried {
            let next = self.buffer(each.next);
            let ours = next >= inside || carried_in.contains(&next);
            nexts.push(if ours && taken.insert(next.0) {
                next
            } else {
                let copy = self.buffers.add(Kind::New, self.bytes(each.next), end, true);
                self.buffers.hold(copy, end, end);
                self.copy(next, copy);
                copy
            });
        }
        self.rotate(&carried_in, &nexts);
        self.steps.push(Step::Jump(again));
        let target = self.here();
        self.steps[exit] = match self.steps[exit] {
            Step::JumpUnless { predicate, .. } => Step::JumpUnless { predicate, target },
            _ => unreachable!("the exit of the loop is a jump"),
        };
        for (each, &buffer) in carried.iter().zip(&carried_in) {
            self.buffers.set_busy_until(buffer, self.last_use(each.result, end));
        }
    }

    /// Gives each of `carried_in` the place of the buffer in `nexts`, and gives these the places that remain.
    fn rotate(&mut self, carried_in: &[BufferId], nexts: &[BufferId]) {
        let next_of = |id: BufferId| carried_in.iter().position(|&buffer| buffer == id).map(|index| nexts[index]);
        let mut done: HashSet<u32> = HashSet::new();
        // First chains that begin with a buffer whose old place no other buffer takes, then the cycles.
        let is_start = |buffer: &&BufferId| !nexts.contains(buffer);
        let order: Vec<BufferId> = carried_in.iter().filter(is_start).chain(carried_in).copied().collect();
        for first in order {
            let mut chain = Vec::new();
            let mut at = Some(first);
            while let Some(id) = at.filter(|id| done.insert(id.0)) {
                chain.push(id);
                at = next_of(id);
            }
            for pair in chain.windows(2) {
                self.buffers.exchange(pair[0], pair[1]);
            }
            if chain.len() > 1 {
                self.steps.push(Step::Rotate(chain.iter().map(|id| id.0).collect()));
            }
        }
    }

    /// The buffers of the program's results: each is separate, and the caller keeps it.
    fn results(&mut self) -> Vec<BufferId> {
        let mut taken = HashSet::new();
        let mut results = Vec::with_capacity(self.graph.results.len());
        for &value in &self.graph.results {
            let from = self.buffer(value);
            let ours = from != EMPTY && self.buffers.is_writable(from) && taken.insert(from.0);
            let buffer = if ours || from == EMPTY {
                from
            } else {
                let copy = self.buffers.add(Kind::New, self.bytes(value), self.graph.end, true);
                self.buffers.hold(copy, self.graph.end, self.graph.end);
                self.copy(from, copy);
                copy
            };
            if buffer != EMPTY {
                self.buffers.set_result(buffer);
            }
            results.push(buffer);
        }
        results
    }
}
