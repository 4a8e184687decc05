//! Branches: the buffers of their results.

use std::collections::HashSet;
use std::ops::Range;

use super::{Assigner, EMPTY};
use crate::compile::assign::buffers::{BufferId, Kind, Opened};
use crate::compile::assign::origin::Origins;
use crate::compile::graph::{Branch, Position, Switch, Value};
use crate::plan::Step;

impl Assigner<'_> {
    /// A switch. All of its branches leave their results in the same buffers.
    pub(super) fn switch(&mut self, each: Switch) {
        let Switch { start, end, selector, by_predicate, branches, results } = each;
        let fresh = self.buffers.next();
        let result_buffers = self.result_buffers(start, end, &branches, &results);
        let choice = self.steps.len();
        self.steps.push(Step::Jump(0));
        let mut targets = Vec::with_capacity(branches.len());
        let mut exits = Vec::with_capacity(branches.len());
        for branch in branches {
            targets.push(self.here());
            let opened = self.open_branch(branch.first, end);
            let inside = opened.inside;
            self.block(branch.block);
            self.leave(&branch.results, &result_buffers, branch.end, fresh..inside);
            self.branches.pop();
            self.buffers.close_branch(opened);
            exits.push(self.steps.len());
            self.steps.push(Step::Jump(0));
        }
        let after = self.here();
        for exit in exits {
            self.steps[exit] = Step::Jump(after);
        }
        let selector = self.buffer(selector).0;
        self.steps[choice] = match (by_predicate, targets.get(1)) {
            (true, Some(&target)) => Step::JumpUnless { predicate: selector, target },
            _ => Step::Branch { index: selector, targets: targets.into() },
        };
        for (&result, &target) in results.iter().zip(&result_buffers).filter(|(_, target)| **target != EMPTY) {
            self.keep(result, target, start);
            self.buffers.hold(target, start, end);
            self.buffers.set_busy_until(target, self.last_use(result, end));
        }
    }

    /// The buffers of the results of a switch from `start` to `end`. If a branch returns a value in its buffer and that
    /// value is not needed afterwards, the result takes this buffer.
    fn result_buffers(
        &mut self,
        start: Position,
        end: Position,
        branches: &[Branch],
        results: &[Value],
    ) -> Vec<BufferId> {
        let origins: Vec<_> = branches.iter().map(Origins::new).collect();
        let mut result_buffers: Vec<BufferId> = Vec::with_capacity(results.len());
        for (index, &result) in results.iter().enumerate() {
            let donor = self.donor(result, start);
            let mut values = branches.iter().zip(&origins).filter_map(|(each, known)| known.of(each.results[index]));
            let left = values.find_map(|value| {
                let target = self.buffer(value);
                let is_free = self.buffers.is_writable(target)
                    && self.last(value) <= end
                    && self.buffers.busy_until(target) == self.last(value)
                    && self.buffers.bytes(target) == self.bytes(result)
                    && !result_buffers.contains(&target);
                is_free.then_some(target)
            });
            let target = match donor.or(left) {
                Some(target) => target,
                None => self.buffer_for(result, start),
            };
            if target != EMPTY && Some(target) != left {
                self.buffers.hold(target, start, end);
            }
            result_buffers.push(target);
        }
        result_buffers
    }

    /// Begins a branch, in which values from outside may have an earlier last use than in others.
    fn open_branch(&mut self, first: Value, end: Position) -> Opened {
        let opened = self.buffers.open_branch();
        let branch = self.opened;
        self.opened += 1;
        let uses = &self.last.in_branch[branch];
        let outside: Vec<_> = uses.keys().map(|&value| (Value(value), self.last(Value(value)))).collect();
        self.branches.push((first, end, branch));
        for (value, last) in outside {
            let buffer = self.buffer(value);
            if buffer != EMPTY && self.buffers.busy_until(buffer) == last {
                self.buffers.set_busy_until(buffer, self.last(value));
            }
        }
        opened
    }

    /// Copies the results of a branch that ends at `end` to their targets. The buffers in `own` were made for these
    /// results; later ones were made in the branch.
    fn leave(&mut self, results: &[Value], result_buffers: &[BufferId], end: Position, own: Range<BufferId>) {
        let mut taken: HashSet<u32> = HashSet::new();
        let (mut to, mut from) = (Vec::new(), Vec::new());
        let mut copies = Vec::new();
        for (&value, &target) in results.iter().zip(result_buffers).filter(|(_, target)| **target != EMPTY) {
            let place = self.buffer(value);
            let is_inside = place >= own.end && self.buffers.kind(place) == Kind::New;
            let is_left = self.buffers.kind(place) == Kind::New && self.is_free_after(value, end);
            if !(is_inside || is_left || result_buffers.contains(&place)) || !taken.insert(place.0) {
                copies.push((place, target));
            } else if is_inside && own.contains(&target) {
                self.buffers.unite(place, target);
                taken.insert(target.0);
            } else {
                to.push(target);
                from.push(place);
            }
        }
        self.rotate(&to, &from);
        for (place, target) in copies {
            // A value whose place has become a target is found there.
            let moved = from.iter().position(|&from| from == place).map_or(place, |index| to[index]);
            self.copy(self.buffers.root(moved), target);
        }
    }
}
