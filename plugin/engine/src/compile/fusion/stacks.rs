//! Fusion of stacks with the ops that compute their parts, as in the cross product of vectors.
//!
//! A concatenation of single elements, whose parts one fusion computes, becomes a result of that fusion: it writes the
//! elements side by side while they are in the nearest cache.

use oxcall_hlo::{Op, OpKind};

use super::graph::Graph;
use super::groups::{GroupId, Groups};
use super::rows::Unit;
use super::{LARGE, MOST_OPS, views};

/// The most parts of a stack.
const MOST_PARTS: usize = 16;

/// Merges stacks into the units of their parts. There is a unit for each group.
pub(super) fn merge(graph: &Graph<'_>, groups: &mut Groups<'_>, units: &mut Vec<Unit>) {
    for (index, op) in graph.region.ops.iter().enumerate() {
        let Some(group) = producer(graph, groups, op) else { continue };
        let unit = &units[group.index()];
        let is_plain = unit.row == 1 && unit.slabs.is_none() && unit.ops.len() < MOST_OPS;
        if !is_plain || unit.count < LARGE || !are_elements(graph, op, unit.count) {
            continue;
        }
        units.push(Unit::default());
        let own = groups.start(index);
        if groups.merge(group, own) {
            units[group.index()].ops.push(index);
        }
    }
}

/// The only group that computes parts of `op`, a stack: the others are in memory before it runs.
fn producer(graph: &Graph<'_>, groups: &Groups<'_>, op: &Op) -> Option<GroupId> {
    let (OpKind::Concatenate { .. }, Some(&result)) = (&op.kind, op.results.first()) else { return None };
    let is_few = (2..=MOST_PARTS).contains(&op.operands.len());
    if !is_few || views::of(graph, result).is_some() {
        return None;
    }
    let mut found = None;
    for &part in &op.operands {
        let Some(producer) = graph.producer(graph.root(part)) else { continue };
        if Graph::is_free(&graph.region.ops[producer]) {
            continue;
        }
        let mut groups = groups.of(producer);
        let group = groups.next()?;
        if groups.next().is_some() || found.is_some_and(|found| found != group) {
            return None;
        }
        found = Some(group);
    }
    found
}

/// Whether rows of the result of `op`, `count` of them, are an element of each part.
fn are_elements(graph: &Graph<'_>, op: &Op, count: usize) -> bool {
    let OpKind::Concatenate { dim } = op.kind else { return false };
    op.operands.iter().all(|&part| {
        graph.tensor(part).is_some_and(|ty| ty.dims[dim..].iter().all(|&size| size == 1) && ty.count() == count)
    })
}
