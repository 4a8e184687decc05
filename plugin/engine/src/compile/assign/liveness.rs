//! The last use of each value.

use std::collections::BTreeMap;

use crate::compile::graph::{Block, Graph, Node, Position, Value};

/// The last uses of values.
pub(super) struct LastUses {
    /// The position of each value's last use; 0 if there is none. A value from outside a loop that the loop uses is
    /// live until the loop's end, since another iteration may follow.
    pub(super) anywhere: Vec<Position>,
    /// For each branch, in order of position, the last use in it of each value from outside.
    pub(super) in_branch: Vec<BTreeMap<u32, Position>>,
}

/// The last uses of the values of `graph`.
pub(super) fn last_uses(graph: &Graph) -> LastUses {
    let uses = LastUses { anywhere: vec![0; graph.values.len()], in_branch: Vec::new() };
    let mut liveness = Liveness { graph, uses, open: Vec::new(), branches: Vec::new() };
    liveness.block(&graph.body);
    for &result in &graph.results {
        liveness.used(result, graph.end);
    }
    liveness.uses
}

struct Liveness<'g> {
    graph: &'g Graph,
    uses: LastUses,
    /// The values from outside that each open loop uses.
    open: Vec<Vec<Value>>,
    /// The open branches: the first value defined inside, and the index.
    branches: Vec<(Value, usize)>,
}

impl Liveness<'_> {
    fn used(&mut self, value: Value, at: Position) {
        let depth = self.graph.info(value).depth as usize;
        if let Some(outside) = self.open.get_mut(depth) {
            return outside.push(value);
        }
        let last = &mut self.uses.anywhere[value.index()];
        *last = at.max(*last);
        for &(_, branch) in self.branches.iter().rev().take_while(|(first, _)| value.0 < first.0) {
            let last = self.uses.in_branch[branch].entry(value.0).or_default();
            *last = at.max(*last);
        }
    }

    fn block(&mut self, block: &Block) {
        for node in &block.nodes {
            match node {
                Node::Compute(compute) => compute.inputs.iter().for_each(|&input| self.used(input, compute.at)),
                Node::While(each) => {
                    each.carried.iter().for_each(|carried| self.used(carried.init, each.start));
                    self.open.push(Vec::new());
                    self.block(&each.cond);
                    self.used(each.predicate, each.decided);
                    self.block(&each.body);
                    each.carried.iter().for_each(|carried| self.used(carried.next, each.end));
                    for value in self.open.pop().expect("the loop is open") {
                        self.used(value, each.end);
                    }
                }
                Node::Switch(each) => {
                    self.used(each.selector, each.start);
                    for branch in &each.branches {
                        self.branches.push((branch.first, self.uses.in_branch.len()));
                        self.uses.in_branch.push(BTreeMap::new());
                        self.block(&branch.block);
                        branch.results.iter().for_each(|&result| self.used(result, branch.end));
                        self.branches.pop();
                    }
                }
            }
        }
    }
}
