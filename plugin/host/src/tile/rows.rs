//! Which reductions of rows run with the element-wise ops around them, as in a softmax.
//!
//! Clusters and reductions are units. A reduction takes in the units beside it, before and after, that work on the same
//! elements or with one element for each row, as long as nothing else has to run in between. A tile then is a few whole
//! rows, and everything about them stays in the caches.

use std::collections::HashSet;

use oxcall_hlo::{BinaryOp, Op, OpKind};

use super::access::Access;
use super::fuse::{Graph, MOST_OPS, MOST_VISITS};
use crate::kernels::reduce::{LONGEST_ROW, row_fold};
use crate::math;
use crate::scalar::{self, Body};

/// Ops that run together.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// The ops, by index in the region.
    pub(super) ops: Vec<usize>,
    /// The number of elements.
    pub(super) count: usize,
    /// The elements of a row; 1 if there are no reductions.
    pub(super) row: usize,
    /// The clusters that the unit consists of, without its reductions.
    pub(super) parts: Vec<Vec<usize>>,
}

/// The function of a reduction of one operand along its last dimensions, and the length of its rows.
pub(super) fn row_reduction(graph: &Graph<'_>, op: &Op) -> Option<(BinaryOp, usize)> {
    let OpKind::Reduce { dims } = &op.kind else { return None };
    let &[operand, _] = &op.operands[..] else { return None };
    let operand = graph.tensor(operand)?;
    let kept = operand.rank().checked_sub(dims.len())?;
    // Then no product of its dimensions is too large.
    operand.checked_count().filter(|&count| count > 0)?;
    let row: usize = operand.dims[kept..].iter().product();
    let rows: usize = operand.dims[..kept].iter().product();
    if dims.iter().any(|&dim| dim < kept) || rows < 2 || !(2..=LONGEST_ROW).contains(&row) {
        return None;
    }
    match scalar::recognise(graph.func, &op.regions[0])? {
        // What is narrower is rounded after each step.
        Body::Binary(function) if operand.element.bits() >= 16 => {
            row_fold(function, math::wide(operand.element)).map(|_| (function, row))
        }
        _ => None,
    }
}

/// The units of a region whose clusters have `counts` elements. `members` has the clusters that each op is in.
pub(super) fn merge(
    graph: &Graph<'_>,
    clusters: Vec<Vec<usize>>,
    counts: &[usize],
    members: &[Vec<usize>],
) -> Vec<Unit> {
    let alone = |(ops, &count): (Vec<usize>, &usize)| Unit { parts: vec![ops.clone()], ops, count, row: 1 };
    let mut units: Vec<Unit> = clusters.into_iter().zip(counts).map(alone).collect();
    let first = units.len();
    for (index, op) in graph.region.ops.iter().enumerate() {
        if let Some((_, row)) = row_reduction(graph, op)
            && let Some(operand) = graph.tensor(op.operands[0])
        {
            units.push(Unit { ops: vec![index], count: operand.count(), row, parts: Vec::new() });
        }
    }
    if units.len() == first {
        return units;
    }
    let of = members.iter().map(|members| if let &[only] = &members[..] { Some(only) } else { None }).collect();
    let mut merger = Merger { graph, units, of };
    for unit in first..merger.units.len() {
        for &op in &merger.units[unit].ops {
            merger.of[op] = Some(unit);
        }
    }
    for unit in first..merger.units.len() {
        merger.grow(unit);
    }
    merger.units.retain(|unit| !unit.parts.is_empty());
    merger.units
}

struct Merger<'a> {
    graph: &'a Graph<'a>,
    units: Vec<Unit>,
    /// The unit of each op; none for those that are in several clusters, or on their own.
    of: Vec<Option<usize>>,
}

impl Merger<'_> {
    /// Takes in all units beside `unit` that fit.
    fn grow(&mut self, unit: usize) {
        let mut refused = HashSet::new();
        while let Some(other) = self.neighbours(unit).into_iter().find(|other| !refused.contains(other)) {
            if self.fits(unit, other) {
                let Unit { ops, parts, .. } = std::mem::replace(
                    &mut self.units[other],
                    Unit { ops: Vec::new(), count: 0, row: 1, parts: Vec::new() },
                );
                ops.iter().for_each(|&op| self.of[op] = Some(unit));
                self.units[unit].ops.extend(ops);
                self.units[unit].parts.extend(parts);
                // What was between is inside now.
                refused.clear();
            } else {
                refused.insert(other);
            }
        }
    }

    /// The units that use what `unit` makes, or make what it uses.
    fn neighbours(&self, unit: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut add = |other: Option<usize>| {
            found.extend(other.filter(|&other| other != unit && !self.units[other].ops.is_empty()));
        };
        for &op in &self.units[unit].ops {
            self.for_each_user(op, &mut |user, _| add(self.of[user]));
            for &operand in &self.graph.region.ops[op].operands {
                let mut value = self.graph.root(operand);
                while let Some(producer) = self.graph.producer(value) {
                    let op = &self.graph.region.ops[producer];
                    if matches!(op.kind, OpKind::BroadcastInDim { .. }) {
                        value = self.graph.root(op.operands[0]);
                    } else {
                        add(self.of[producer]);
                        break;
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Calls `visit` with the users of `op`, broadcasts looked through, and whether they use it as it is, or spread over
    /// rows.
    fn for_each_user(&self, op: usize, visit: &mut impl FnMut(usize, bool)) {
        for &user in &self.graph.users[op] {
            match &self.graph.region.ops[user] {
                Op { kind: OpKind::BroadcastInDim { dims }, operands, results, .. } => {
                    let types = self.graph.tensor(operands[0]).zip(self.graph.tensor(results[0]));
                    let is_spread = types.is_some_and(|(from, to)| {
                        let (rows, count) = (from.checked_count().unwrap_or(0), to.checked_count().unwrap_or(0));
                        let access = Access::broadcast(&from.dims, &to.dims, dims);
                        rows > 0 && access == Access::rows(rows, count / rows)
                    });
                    for &user in &self.graph.users[user] {
                        let is_broadcast = matches!(self.graph.region.ops[user].kind, OpKind::BroadcastInDim { .. });
                        visit(user, is_spread && !is_broadcast);
                    }
                }
                _ => visit(user, true),
            }
        }
    }

    /// Whether `other` can be a part of `unit`.
    fn fits(&self, unit: usize, other: usize) -> bool {
        let (ours, theirs) = (&self.units[unit], &self.units[other]);
        let same = match theirs.row {
            1 => theirs.count == ours.count || theirs.count == ours.count / ours.row,
            row => (theirs.count, row) == (ours.count, ours.row),
        };
        let is_direct = |from: usize, to: usize| {
            let mut direct = true;
            for &op in &self.units[from].ops {
                self.for_each_user(op, &mut |user, is_spread| direct &= is_spread || self.of[user] != Some(to));
            }
            direct
        };
        same && ours.ops.len() + theirs.ops.len() <= MOST_OPS
            && is_direct(unit, other)
            && is_direct(other, unit)
            && !self.is_apart(unit, other)
            && !self.is_apart(other, unit)
    }

    /// Whether something outside of both uses what `from` makes and makes what `to` uses.
    fn is_apart(&self, from: usize, to: usize) -> bool {
        let mut seen = HashSet::new();
        let mut pending: Vec<(usize, bool)> = Vec::new();
        // What comes after all of `to` does not lead there.
        let last = self.units[to].ops.iter().copied().max().unwrap_or(0);
        let users = |op: usize, outside: bool, pending: &mut Vec<(usize, bool)>| {
            let before = self.graph.users[op].iter().filter(|&&user| user <= last);
            pending.extend(before.map(|&user| (user, outside)));
        };
        self.units[from].ops.iter().for_each(|&op| users(op, false, &mut pending));
        while let Some((op, outside)) = pending.pop() {
            if !seen.insert((op, outside)) {
                continue;
            }
            if seen.len() > MOST_VISITS {
                return true;
            }
            match self.of[op] {
                Some(unit) if unit == to && outside => return true,
                Some(unit) if unit == to || unit == from => {}
                Some(unit) => self.units[unit].ops.iter().for_each(|&op| users(op, true, &mut pending)),
                // A broadcast is a part of whoever uses it.
                None => {
                    let is_free = Graph::is_free(&self.graph.region.ops[op]);
                    users(op, outside || !is_free, &mut pending);
                }
            }
        }
        false
    }
}
