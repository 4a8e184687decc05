//! The order in which the ops and fusions of a region are computed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use oxcall::Error;
use oxcall_hlo::{Op, OpKind, Region, ValueId};

use crate::compile::fusion::Fusion;
use crate::compile::passes::ir::has_effect;

/// An op or a fusion to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Op(usize),
    Fusion(usize),
}

/// The fusions, and the needed ops of `region` whose results no fusion gives, each after its dependencies; otherwise in
/// program order, where a fusion counts as its last op. An update of a part of a value comes after all other uses of
/// the value, so that it can work in place. `values` is the number of values of the function.
///
/// Custom calls with side effects keep their order.
///
/// # Errors
/// INTERNAL if the fusions depend on each other in a cycle.
pub(super) fn order(region: &Region, fusions: &[Fusion], values: usize) -> Result<Vec<Item>, Error> {
    let graph = Dependencies::new(region, fusions, values);
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
    if order.len() != graph.items.len() {
        return Err(Error::internal("fused ops depend on each other in a cycle"));
    }
    Ok(order)
}

const NONE: usize = usize::MAX;

struct Dependencies {
    items: Vec<Item>,
    /// The place of each item in program order.
    rank: Vec<usize>,
    /// The number of dependencies that each item still waits for.
    needs: Vec<usize>,
    users: Vec<Vec<usize>>,
}

impl Dependencies {
    fn new(region: &Region, fusions: &[Fusion], values: usize) -> Dependencies {
        let mut items: Vec<Item> = (0..fusions.len()).map(Item::Fusion).collect();
        let mut rank: Vec<usize> = fusions.iter().map(|fusion| fusion.ops.last().copied().unwrap_or(0)).collect();
        // The item that produces each value.
        let mut made_by = vec![NONE; values];
        for (item, fusion) in fusions.iter().enumerate() {
            fusion.outputs.iter().for_each(|output| made_by[output.0 as usize] = item);
        }
        rank.iter_mut().for_each(|rank| *rank *= 2);
        let needed = needed_ops(region, fusions, &made_by);
        let mut item_of = vec![NONE; region.ops.len()];
        for (index, op) in region.ops.iter().enumerate().filter(|(index, _)| needed[*index]) {
            item_of[index] = items.len();
            op.results.iter().for_each(|result| made_by[result.0 as usize] = items.len());
            items.push(Item::Op(index));
            rank.push(2 * index);
        }
        delay_updates(region, fusions, &item_of, &mut rank);
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut depends = |item: usize, value: ValueId| {
            let from = made_by[value.0 as usize];
            if from != NONE && from != item {
                edges.push((from, item));
            }
        };
        for (item, fusion) in fusions.iter().enumerate() {
            fusion.inputs.iter().for_each(|&input| depends(item, input));
        }
        for (op, &item) in region.ops.iter().zip(&item_of).filter(|(_, item)| **item != NONE) {
            for_each_use(op, &mut |value| depends(item, value));
        }
        let mut last_effect = None;
        for (_, &item) in region.ops.iter().zip(&item_of).filter(|(op, _)| has_effect(op)) {
            edges.extend(last_effect.replace(item).map(|before| (before, item)));
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

/// Moves each update of a part of a value right behind the last item that reads the value.
fn delay_updates(region: &Region, fusions: &[Fusion], item_of: &[usize], rank: &mut [usize]) {
    let is_update = |op: &Op| matches!(op.kind, OpKind::DynamicUpdateSlice | OpKind::Scatter { .. });
    let ops = || region.ops.iter().zip(item_of).filter(|(_, item)| **item != NONE);
    // Reshapes are other names of the same elements.
    let reshaped: HashMap<ValueId, ValueId> =
        region.ops.iter().filter(|op| op.kind == OpKind::Reshape).map(|op| (op.results[0], op.operands[0])).collect();
    let root = |mut value: ValueId| {
        while let Some(&operand) = reshaped.get(&value) {
            value = operand;
        }
        value
    };
    // Each update, and the value that it updates.
    let fused = fusions.iter().enumerate().flat_map(|(item, fusion)| fusion.ops.iter().map(move |&op| (item, op)));
    let fused = fused.map(|(item, op)| (item, &region.ops[op]));
    let alone = ops().map(|(op, &item)| (item, op));
    let updates = fused.chain(alone).filter(|(_, op)| is_update(op));
    let updates: Vec<(usize, ValueId)> = updates.map(|(item, op)| (item, root(op.operands[0]))).collect();
    if updates.is_empty() {
        return;
    }
    let own: HashSet<(usize, ValueId)> = updates.iter().copied().collect();
    let mut last_read: HashMap<ValueId, usize> = updates.iter().map(|&(_, value)| (value, 0)).collect();
    let mut read = |value: ValueId, item: usize| {
        let value = root(value);
        if !own.contains(&(item, value))
            && let Some(last) = last_read.get_mut(&value)
        {
            *last = rank[item].max(*last);
        }
    };
    for (item, fusion) in fusions.iter().enumerate() {
        fusion.inputs.iter().for_each(|&input| read(input, item));
    }
    for (op, &item) in ops().filter(|(op, _)| op.kind != OpKind::Reshape) {
        for_each_use(op, &mut |value| read(value, item));
    }
    for (item, value) in updates {
        rank[item] = rank[item].max(last_read[&value] + 1);
    }
}

/// The ops that have to be computed outside the fusions; `made_by` has the outputs of the fusions.
fn needed_ops(region: &Region, fusions: &[Fusion], made_by: &[usize]) -> Vec<bool> {
    let mut producers = vec![NONE; made_by.len()];
    for (index, op) in region.ops.iter().enumerate() {
        op.results.iter().for_each(|result| producers[result.0 as usize] = index);
    }
    let mut needed = vec![false; region.ops.len()];
    let mut values: Vec<ValueId> = region.results.clone();
    fusions.iter().for_each(|fusion| values.extend(&fusion.inputs));
    for (index, op) in region.ops.iter().enumerate().filter(|(_, op)| has_effect(op)) {
        needed[index] = true;
        for_each_use(op, &mut |value| values.push(value));
    }
    while let Some(value) = values.pop() {
        let producer = producers[value.0 as usize];
        let is_made = made_by[value.0 as usize] != NONE || producer == NONE || needed[producer];
        if !is_made {
            needed[producer] = true;
            for_each_use(&region.ops[producer], &mut |value| values.push(value));
        }
    }
    needed
}

/// Calls `visit` with every value that `op` uses, including uses inside its regions.
fn for_each_use(op: &Op, visit: &mut impl FnMut(ValueId)) {
    op.operands.iter().for_each(|&operand| visit(operand));
    for region in &op.regions {
        region.ops.iter().for_each(|op| for_each_use(op, visit));
        region.results.iter().for_each(|&result| visit(result));
    }
}
