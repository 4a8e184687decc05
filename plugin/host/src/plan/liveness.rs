//! The last use of each value.

use super::graph::{Block, Graph, Node, Position, Value};

/// For each value the position of its last use; 0 if there is none. What a loop uses from outside is used until the
/// loop's end, since another iteration may follow.
pub(super) fn last_uses(graph: &Graph) -> Vec<Position> {
    let mut liveness = Liveness { graph, last: vec![0; graph.values.len()], open: Vec::new() };
    liveness.block(&graph.body);
    for &result in &graph.results {
        liveness.used(result, graph.end);
    }
    liveness.last
}

struct Liveness<'g> {
    graph: &'g Graph,
    last: Vec<Position>,
    /// For each open loop the values from outside that it uses.
    open: Vec<Vec<Value>>,
}

impl Liveness<'_> {
    fn used(&mut self, value: Value, at: Position) {
        let depth = self.graph.info(value).depth as usize;
        match self.open.get_mut(depth) {
            Some(outside) => outside.push(value),
            None => {
                let last = &mut self.last[value.index()];
                *last = at.max(*last);
            }
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
                        self.block(&branch.block);
                        branch.results.iter().for_each(|&result| self.used(result, branch.end));
                    }
                }
            }
        }
    }
}
