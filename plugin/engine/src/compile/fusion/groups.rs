//! Groups of ops that become one node each, without a cycle.
//!
//! The nodes are the groups, and the ops outside them. They stand in a line in which each comes after all of its
//! dependencies. So the nodes on a path between two nodes are among those that stand between them, and a group that
//! absorbs a node stays at the later place of the two, with the nodes that were found put behind it.

use oxcall_hlo::OpKind;
use smallvec::SmallVec;

use super::graph::Graph;
use super::line::Line;

/// The most nodes that a search finds, and the most uses that it follows, so that compilation takes linear time.
const MOST_VISITS: usize = 512;
const MOST_USES: usize = 16 * MOST_VISITS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupId(u32);

impl GroupId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

struct Group {
    /// Its ops, and its copies of other ops.
    ops: Vec<usize>,
    /// The op whose index stands for the group in the line.
    node: usize,
}

pub(super) struct Groups<'a> {
    graph: &'a Graph<'a>,
    groups: Vec<Group>,
    /// The group that each op is in.
    group_of: Vec<Option<GroupId>>,
    /// The groups that have copies of each op. Other ops use the op itself, which runs alone.
    copies: Vec<SmallVec<[GroupId; 2]>>,
    line: Line,
    /// The last search that found each node.
    seen: Vec<u32>,
    searches: u32,
}

impl<'a> Groups<'a> {
    pub(super) fn new(graph: &'a Graph<'a>) -> Groups<'a> {
        let count = graph.region.ops.len();
        Groups {
            graph,
            groups: Vec::new(),
            group_of: vec![None; count],
            copies: vec![SmallVec::new(); count],
            line: Line::new(count),
            seen: vec![0; count],
            searches: 0,
        }
    }

    pub(super) fn ops(&self, group: GroupId) -> &[usize] {
        &self.groups[group.index()].ops
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = GroupId> + use<> {
        (0..self.groups.len() as u32).map(GroupId)
    }

    /// The groups that compute `op`.
    pub(super) fn of(&self, op: usize) -> impl Iterator<Item = GroupId> {
        self.group_of[op].into_iter().chain(self.copies[op].iter().copied())
    }

    /// Whether groups have copies of `op`; copies are never outputs.
    pub(super) fn is_copied(&self, op: usize) -> bool {
        !self.copies[op].is_empty()
    }

    /// A group of one op.
    pub(super) fn start(&mut self, op: usize) -> GroupId {
        let group = GroupId(self.groups.len() as u32);
        self.groups.push(Group { ops: vec![op], node: op });
        self.group_of[op] = Some(group);
        group
    }

    /// Gives `group`, which uses `op`, a copy of it. The group then has no new dependencies.
    pub(super) fn copy(&mut self, op: usize, group: GroupId) {
        self.groups[group.index()].ops.push(op);
        self.copies[op].push(group);
    }

    /// Adds `op` to `group`, which uses it, unless another path leads from the op to the group through a node outside.
    pub(super) fn join(&mut self, op: usize, group: GroupId) -> bool {
        let node = self.groups[group.index()].node;
        let joins = self.unite(op, node);
        if joins {
            self.groups[group.index()].ops.push(op);
            self.group_of[op] = Some(group);
        }
        joins
    }

    /// Merges `other`, which produces or uses a value of `group`, into it, unless a node outside lies between them.
    pub(super) fn merge(&mut self, group: GroupId, other: GroupId) -> bool {
        let [ours, theirs] = [group, other].map(|group| self.groups[group.index()].node);
        let (first, last) = if self.line.is_before(ours, theirs) { (ours, theirs) } else { (theirs, ours) };
        if !self.unite(first, last) {
            return false;
        }
        let ops = std::mem::take(&mut self.groups[other.index()].ops);
        for &op in &ops {
            for part in self.group_of[op].iter_mut().chain(&mut self.copies[op]).filter(|part| **part == other) {
                *part = group;
            }
        }
        let group = &mut self.groups[group.index()];
        group.ops.extend(ops);
        group.node = last;
        true
    }

    /// Makes one node from two; it takes the place of `last` in the line.
    fn unite(&mut self, first: usize, last: usize) -> bool {
        let Some(between) = self.between(first, last) else { return false };
        self.line.remove(first);
        self.line.put_behind(between, last);
        true
    }

    /// The nodes before `last` that depend on `first`; `None` if `last` depends on one of them, or if there are too
    /// many.
    fn between(&mut self, first: usize, last: usize) -> Option<Vec<usize>> {
        self.searches += 1;
        let mut seen = std::mem::take(&mut self.seen);
        let found = self.search(first, last, &mut seen);
        self.seen = seen;
        found
    }

    fn search(&self, first: usize, last: usize, seen: &mut [u32]) -> Option<Vec<usize>> {
        let ends = [self.group_of[first], self.group_of[last]];
        let mut found = vec![first];
        let (mut next, mut uses) = (0, 0);
        let mut is_free = true;
        while let Some(&node) = found.get(next) {
            let mut visit = |to: usize, is_whole: bool| {
                uses += 1;
                if to == last {
                    // A copy of the op would be in the same group.
                    let is_inside = self.copies[node].iter().any(|&copy| ends.contains(&Some(copy)));
                    is_free &= !is_whole && (node == first || is_inside && self.group_of[node].is_none());
                } else if self.line.is_before(to, last) && seen[to] != self.searches {
                    seen[to] = self.searches;
                    found.push(to);
                }
            };
            // Copies of ops have no outputs.
            match self.group_of[node] {
                Some(group) => {
                    for &op in self.ops(group).iter().filter(|&&op| self.group_of[op] == Some(group)) {
                        self.for_each_dependent(op, op, &mut visit);
                    }
                }
                None => self.for_each_dependent(node, node, &mut visit),
            }
            if !is_free || found.len() > MOST_VISITS || uses > MOST_USES {
                return None;
            }
            next += 1;
        }
        found.remove(0);
        Some(found)
    }

    /// Calls `visit` with the nodes that use `op`, whose value is `name` or a broadcast of it, and with whether they
    /// need all of it before they start.
    fn for_each_dependent(&self, op: usize, name: usize, visit: &mut impl FnMut(usize, bool)) {
        for &user in &self.graph.users[name] {
            // The users of a broadcast repeat it.
            if matches!(self.graph.region.ops[user].kind, OpKind::BroadcastInDim { .. }) {
                self.for_each_dependent(op, user, visit);
                continue;
            }
            let is_whole = self.graph.needs_whole(user, name);
            match self.group_of[user] {
                Some(group) if self.copies[op].contains(&group) => {}
                Some(group) => visit(self.groups[group.index()].node, is_whole),
                None => {
                    visit(user, is_whole);
                    self.copies[user].iter().for_each(|copy| visit(self.groups[copy.index()].node, is_whole));
                }
            }
        }
    }
}
