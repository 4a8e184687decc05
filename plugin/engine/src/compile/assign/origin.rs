//! Origins of a branch's results: the values whose memory they may take.

use std::collections::HashMap;

use crate::compile::graph::{Branch, Node, Value};

/// For each value of a branch, a value whose memory it may take.
pub(super) struct Origins {
    first: Value,
    before: HashMap<u32, Value>,
}

impl Origins {
    pub(super) fn new(branch: &Branch) -> Origins {
        let mut before = HashMap::new();
        for node in &branch.block.nodes {
            match node {
                Node::Compute(compute) => {
                    for &(input, output) in compute.aliases.iter().rev() {
                        before.insert(compute.outputs[output].0, compute.inputs[input]);
                    }
                }
                Node::While(each) => before.extend(each.carried.iter().map(|carried| (carried.result.0, carried.init))),
                Node::Switch(each) => {
                    for inner in &each.branches {
                        let pairs = each.results.iter().zip(&inner.results);
                        before.extend(pairs.filter(|(_, left)| left.0 < inner.first.0).map(|(to, from)| (to.0, *from)));
                    }
                }
            }
        }
        Origins { first: branch.first, before }
    }

    /// The value from outside the branch whose memory `value` may take.
    pub(super) fn of(&self, mut value: Value) -> Option<Value> {
        while value.0 >= self.first.0 {
            value = *self.before.get(&value.0)?;
        }
        Some(value)
    }
}
