//! Branches: which storages their results are in.

use std::collections::HashSet;
use std::ops::Range;

use super::{EMPTY, Placer};
use crate::plan::Step;
use crate::plan::graph::{Branch, Position, Switch, Value};
use crate::plan::origin::Origins;
use crate::plan::storage::{Kind, Opened, StorageId};

impl Placer<'_> {
    /// A branch. Each branch leaves its results in the same storages.
    pub(super) fn switch(&mut self, each: Switch) {
        let Switch { start, end, selector, by_predicate, branches, results } = each;
        let fresh = self.storages.next();
        let homes = self.homes(start, end, &branches, &results);
        let choice = self.steps.len();
        self.steps.push(Step::Jump(0));
        let mut targets = Vec::with_capacity(branches.len());
        let mut exits = Vec::with_capacity(branches.len());
        for branch in branches {
            targets.push(self.here());
            let opened = self.open_branch(branch.first, end);
            let inside = opened.inside;
            self.block(branch.block);
            self.leave(&branch.results, &homes, branch.end, fresh..inside);
            self.branches.pop();
            self.storages.close_branch(opened);
            exits.push(self.steps.len());
            self.steps.push(Step::Jump(0));
        }
        let after = self.here();
        for exit in exits {
            self.steps[exit] = Step::Jump(after);
        }
        let selector = self.storage(selector).0;
        self.steps[choice] = match (by_predicate, targets.get(1)) {
            (true, Some(&target)) => Step::JumpUnless { predicate: selector, target },
            _ => Step::Branch { index: selector, targets: targets.into() },
        };
        for (&result, &home) in results.iter().zip(&homes).filter(|(_, home)| **home != EMPTY) {
            self.keep(result, home, start);
            self.storages.hold(home, start, end);
            self.storages.set_busy_until(home, self.last_use(result, end));
        }
    }

    /// The storages of the results of a branch from `start` to `end`: that of a value which one of the branches leaves
    /// there, if it is not needed afterwards.
    fn homes(&mut self, start: Position, end: Position, branches: &[Branch], results: &[Value]) -> Vec<StorageId> {
        let origins: Vec<_> = branches.iter().map(Origins::new).collect();
        let mut homes: Vec<StorageId> = Vec::with_capacity(results.len());
        for (index, &result) in results.iter().enumerate() {
            let donor = self.donor(result, start);
            let mut values = branches.iter().zip(&origins).filter_map(|(each, known)| known.of(each.results[index]));
            let left = values.find_map(|value| {
                let home = self.storage(value);
                let is_free = self.storages.is_writable(home)
                    && self.last(value) <= end
                    && self.storages.busy_until(home) == self.last(value)
                    && self.storages.bytes(home) == self.bytes(result)
                    && !homes.contains(&home);
                is_free.then_some(home)
            });
            let home = match donor.or(left) {
                Some(home) => home,
                None => self.storage_for(result, start),
            };
            if home != EMPTY && Some(home) != left {
                self.storages.hold(home, start, end);
            }
            homes.push(home);
        }
        homes
    }

    /// Begins a branch, in which values from outside may have their last use earlier than in others.
    fn open_branch(&mut self, first: Value, end: Position) -> Opened {
        let opened = self.storages.open_branch();
        let branch = self.opened;
        self.opened += 1;
        let uses = &self.last.in_branch[branch];
        let outside: Vec<_> = uses.keys().map(|&value| (Value(value), self.last(Value(value)))).collect();
        self.branches.push((first, end, branch));
        for (value, last) in outside {
            let storage = self.storage(value);
            if storage != EMPTY && self.storages.busy_until(storage) == last {
                self.storages.set_busy_until(storage, self.last(value));
            }
        }
        opened
    }

    /// Brings the results of a branch that ends at `end` to their homes. Storages in `own` were made for them, later
    /// ones in the branch.
    fn leave(&mut self, results: &[Value], homes: &[StorageId], end: Position, own: Range<StorageId>) {
        let mut taken: HashSet<u32> = HashSet::new();
        let (mut to, mut from) = (Vec::new(), Vec::new());
        let mut copies = Vec::new();
        for (&value, &home) in results.iter().zip(homes).filter(|(_, home)| **home != EMPTY) {
            let place = self.storage(value);
            let is_inside = place >= own.end && self.storages.kind(place) == Kind::New;
            let is_left = self.storages.kind(place) == Kind::New && self.is_free_after(value, end);
            if !(is_inside || is_left || homes.contains(&place)) || !taken.insert(place.0) {
                copies.push((place, home));
            } else if is_inside && own.contains(&home) {
                self.storages.unite(place, home);
                taken.insert(home.0);
            } else {
                to.push(home);
                from.push(place);
            }
        }
        self.rotate(&to, &from);
        for (place, home) in copies {
            // What a home has taken is found there.
            let moved = from.iter().position(|&from| from == place).map_or(place, |index| to[index]);
            self.copy(self.storages.root(moved), home);
        }
    }
}
