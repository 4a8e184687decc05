//! Fusion of reductions of rows with the element-wise ops around them, as in a softmax.
//!
//! Fusions and reductions are units. A reduction absorbs adjacent units, before and after, that work on the same
//! elements or on one element for each row, unless another op has to run in between. A tile then is a few whole rows,
//! and everything about them stays in the caches.

use oxcall_hlo::{BinaryOp, Op, OpKind};
use oxcall_kernels::kernels::reduce::{are_few, are_tiles, row_fold};
use oxcall_kernels::math;
use oxcall_kernels::scalar::{self, Body};
use oxcall_kernels::tile::{Access, Slabs};

use super::MOST_OPS;
use super::graph::Graph;
use super::groups::{GroupId, Groups};

/// Ops that run together.
#[derive(Default)]
pub(super) struct Unit {
    /// The ops, by index in the region.
    pub(super) ops: Vec<usize>,
    /// The number of elements.
    pub(super) count: usize,
    /// The number of elements in a row; 1 if there are no reductions.
    pub(super) row: usize,
    /// The dimensions of reductions of other kinds.
    pub(super) slabs: Option<Slabs>,
    /// The fusions of the unit, without its reductions.
    pub(super) parts: Vec<Vec<usize>>,
}

/// The function of a reduction of one operand along its last dimensions, and the length of its rows.
pub(super) fn row_reduction(graph: &Graph<'_>, op: &Op) -> Option<(BinaryOp, usize)> {
    let OpKind::Reduce { dims } = &op.kind else { return None };
    let &[operand, _] = &op.operands[..] else { return None };
    let operand = graph.tensor(operand)?;
    let kept = operand.rank().checked_sub(dims.len())?;
    // After this check, no product of its dimensions overflows.
    operand.checked_count().filter(|&count| count > 0)?;
    let row: usize = operand.dims[kept..].iter().product();
    let rows: usize = operand.dims[..kept].iter().product();
    if dims.iter().any(|&dim| dim < kept) || !are_tiles(rows, row) {
        return None;
    }
    match scalar::idiom(&graph.func.values, &op.regions[0])? {
        // Narrower elements are rounded after each step.
        Body::Binary(function) if operand.element.bits() >= 16 => {
            row_fold(function, math::wide(operand.element)).map(|_| (function, row))
        }
        _ => None,
    }
}

/// The most elements of a reduction that stays alone in a loop: machine code has the ops around it, and calls it.
const MOST_IN_CODE: usize = 256;

/// The units of a region, one for each group; one without parts is a reduction alone, or a part of another. `groups`
/// are its fusions, and `counts` their numbers of elements. Reductions of a few elements `in_loop` stay alone: a kernel
/// would end the machine code around it.
pub(super) fn merge(graph: &Graph<'_>, groups: &mut Groups<'_>, counts: &[usize], in_loop: bool) -> Vec<Unit> {
    let alone = |(group, &count): (GroupId, &usize)| {
        let ops = groups.ops(group).to_vec();
        // A group that has become a part of another.
        if ops.is_empty() {
            return Unit::default();
        }
        Unit { parts: vec![ops.clone()], ops, count, row: 1, slabs: None }
    };
    let mut units: Vec<Unit> = groups.ids().zip(counts).map(alone).collect();
    let mut reductions = Vec::new();
    for (index, op) in graph.region.ops.iter().enumerate() {
        if let Some((_, row)) = row_reduction(graph, op)
            && let Some(operand) = graph.tensor(op.operands[0])
            && !(in_loop && (operand.count() <= MOST_IN_CODE || are_few(operand.count() / row, row)))
        {
            units.push(Unit { ops: vec![index], count: operand.count(), row, ..Unit::default() });
            reductions.push(groups.start(index));
        }
    }
    let mut merger = Merger { graph, groups, units };
    for unit in reductions {
        merger.grow(unit);
    }
    merger.units
}

struct Merger<'a, 'g> {
    graph: &'a Graph<'a>,
    groups: &'a mut Groups<'g>,
    /// The unit of each group. A unit that has been absorbed is empty.
    units: Vec<Unit>,
}

impl Merger<'_, '_> {
    fn unit(&self, group: GroupId) -> &Unit {
        &self.units[group.index()]
    }

    /// The group that computes `op`; `None` if no group or several do.
    fn of(&self, op: usize) -> Option<GroupId> {
        let mut groups = self.groups.of(op);
        groups.next().filter(|_| groups.next().is_none())
    }

    /// Absorbs all adjacent units of `group` that fit.
    fn grow(&mut self, group: GroupId) {
        let mut refused: Vec<GroupId> = Vec::new();
        while let Some(other) = self.neighbours(group).into_iter().find(|other| !refused.contains(other)) {
            if self.fits(group, other) && self.groups.merge(group, other) {
                let Unit { ops, parts, .. } = std::mem::take(&mut self.units[other.index()]);
                let unit = &mut self.units[group.index()];
                unit.ops.extend(ops);
                unit.parts.extend(parts);
                // Ops that were in between may now be inside.
                refused.clear();
            } else {
                refused.push(other);
            }
        }
    }

    /// The units that use a value of the unit of `group`, or produce a value that it uses.
    fn neighbours(&self, group: GroupId) -> Vec<GroupId> {
        let mut found = Vec::new();
        let mut add = |other: Option<GroupId>| found.extend(other.filter(|&other| other != group));
        for &op in &self.unit(group).ops {
            self.for_each_user(op, &mut |user, _| add(self.of(user)));
            for &operand in &self.graph.region.ops[op].operands {
                let mut value = self.graph.root(operand);
                while let Some(producer) = self.graph.producer(value) {
                    let op = &self.graph.region.ops[producer];
                    if matches!(op.kind, OpKind::BroadcastInDim { .. }) {
                        value = self.graph.root(op.operands[0]);
                    } else {
                        add(self.of(producer));
                        break;
                    }
                }
            }
        }
        found.sort_unstable_by_key(|group| group.index());
        found.dedup();
        found
    }

    /// Calls `visit` with the users of `op`, seen through broadcasts, and with whether they use it directly or
    /// broadcast over rows.
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

    /// Whether the unit of `other` works on the elements or rows of the unit of `group`.
    fn fits(&self, group: GroupId, other: GroupId) -> bool {
        let (ours, theirs) = (self.unit(group), self.unit(other));
        let same = match theirs.row {
            1 => theirs.count == ours.count || theirs.count == ours.count / ours.row,
            row => (theirs.count, row) == (ours.count, ours.row),
        };
        let is_direct = |from: &Unit, to: GroupId| {
            let mut direct = true;
            for &op in &from.ops {
                self.for_each_user(op, &mut |user, is_spread| direct &= is_spread || self.of(user) != Some(to));
            }
            direct
        };
        same && ours.ops.len() + theirs.ops.len() <= MOST_OPS && is_direct(ours, other) && is_direct(theirs, group)
    }
}
