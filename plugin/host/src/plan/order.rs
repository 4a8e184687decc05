//! In which order the ops and clusters of a region are computed.

use std::{cmp::Reverse, collections::BinaryHeap};

use oxcall_hlo::{Op, OpKind, Region, ValueId};

use crate::kernel::Kernel;

/// Ops of one region that one kernel computes together.
pub struct Cluster {
    /// The indices of the ops in their region.
    pub ops: Vec<usize>,
    /// What the kernel is given, in its order.
    pub inputs: Vec<ValueId>,
    /// What it computes, in its order: every result that others use.
    pub outputs: Vec<ValueId>,
    /// The kernel.
    pub kernel: Box<dyn Kernel>,
}

/// Something to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Op(usize),
    Cluster(usize),
}

/// The ops of `region` that are in no cluster, and the clusters, each after what it needs; otherwise in program order,
/// where a cluster counts as its last op. `values` is the number of values of the function.
///
/// Custom calls with side effects keep their order.
pub(super) fn order(region: &Region, clusters: &[Cluster], values: usize) -> Vec<Item> {
    if clusters.is_empty() {
        return (0..region.ops.len()).map(Item::Op).collect();
    }
    let graph = Dependencies::new(region, clusters, values);
    let mut missing = graph.needs.clone();
    let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
        (0..missing.len()).filter(|&item| missing[item] == 0).map(|item| Reverse((graph.rank[item], item))).collect();
    let mut order = Vec::with_capacity(missing.len());
    while let Some(Reverse((_, item))) = ready.pop() {
        order.push(graph.items[item]);
        for &user in &graph.users[item] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.push(Reverse((graph.rank[user], user)));
            }
        }
    }
    debug_assert_eq!(order.len(), graph.items.len(), "clusters depend on each other in a circle");
    order
}

struct Dependencies {
    items: Vec<Item>,
    /// The place in program order.
    rank: Vec<usize>,
    /// The number of items that each waits for.
    needs: Vec<usize>,
    users: Vec<Vec<usize>>,
}

impl Dependencies {
    fn new(region: &Region, clusters: &[Cluster], values: usize) -> Dependencies {
        const NONE: usize = usize::MAX;
        let mut item_of = vec![NONE; region.ops.len()];
        let mut items = Vec::new();
        let mut rank = Vec::new();
        for (index, cluster) in clusters.iter().enumerate() {
            cluster.ops.iter().for_each(|&op| item_of[op] = items.len());
            items.push(Item::Cluster(index));
            rank.push(cluster.ops.iter().copied().max().unwrap_or(0));
        }
        for (op, item) in item_of.iter_mut().enumerate().filter(|(_, item)| **item == NONE) {
            *item = items.len();
            items.push(Item::Op(op));
            rank.push(op);
        }
        let mut made_by = vec![NONE; values];
        for (op, &item) in region.ops.iter().zip(&item_of) {
            op.results.iter().for_each(|result| made_by[result.0 as usize] = item);
        }
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut last_effect = None;
        for (op, &item) in region.ops.iter().zip(&item_of) {
            for_each_use(op, &mut |value| {
                let from = made_by[value.0 as usize];
                if from != NONE && from != item {
                    edges.push((from, item));
                }
            });
            if has_effect(op) {
                edges.extend(last_effect.replace(item).map(|before| (before, item)));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut needs = vec![0; items.len()];
        let mut users = vec![Vec::new(); items.len()];
        for (from, to) in edges {
            needs[to] += 1;
            users[from].push(to);
        }
        Dependencies { items, rank, needs, users }
    }
}

/// Every value that `op` uses, also inside its regions.
fn for_each_use(op: &Op, visit: &mut impl FnMut(ValueId)) {
    op.operands.iter().for_each(|&operand| visit(operand));
    for region in &op.regions {
        region.ops.iter().for_each(|op| for_each_use(op, visit));
        region.results.iter().for_each(|&result| visit(result));
    }
}

fn has_effect(op: &Op) -> bool {
    let own = matches!(&op.kind, OpKind::CustomCall(call) if call.has_side_effect);
    own || op.regions.iter().flat_map(|region| &region.ops).any(has_effect)
}
