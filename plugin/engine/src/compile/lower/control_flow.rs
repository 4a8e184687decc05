//! Lowering of loops and branches.

use oxcall::Error;
use oxcall_hlo::{Op, OpKind, ValueId};
use oxcall_kernels::math;
use oxcall_kernels::math::generated::lanes_of;
use oxcall_kernels::scalar::ScalarLoop;
use oxcall_kernels::tile::is_generated;

use super::{ASSUMED_ITERATIONS, Lowering};
use crate::compile::graph::{Block, Branch, Carried, Node, Switch, Value, While};

impl<'m> Lowering<'m> {
    pub(super) fn control_flow(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        let is_loop = matches!(op.kind, OpKind::While);
        let iterations = if is_loop { ASSUMED_ITERATIONS } else { 1.0 };
        // In a loop that becomes machine code, scalars are steps of it.
        let is_generated = self.runtime.generates() && (is_loop || self.depth > 0) && self.is_generated(op);
        if !is_generated && let Some((kernel, inputs)) = ScalarLoop::from_op(op, self.func, iterations) {
            let inputs = self.flat(&inputs);
            let outputs = op.results.iter().flat_map(|&result| self.define(result)).collect();
            self.compute(block, (Box::new(kernel), 0.0), inputs, outputs);
            return Ok(());
        }
        match is_loop {
            true if self.interchange(op, block).is_some() => Ok(()),
            true => self.repeat(op, block),
            false => self.switch(op, block),
        }
    }

    /// Whether machine code can compute all ops on scalars in the regions of `op`.
    fn is_generated(&self, op: &Op) -> bool {
        let element = |&value: &ValueId| self.tensor(value).map(|ty| ty.element);
        let has_lanes = |value: &ValueId| element(value).is_some_and(|element| lanes_of(element).is_some());
        op.regions.iter().flat_map(|region| &region.ops).all(|op| match &op.kind {
            OpKind::While | OpKind::If | OpKind::Case => self.is_generated(op),
            kind if math::is_element_wise(kind) => {
                let operands = op.operands.iter().map(element).collect::<Option<Vec<_>>>();
                let result = op.results.first().and_then(element);
                operands.zip(result).is_some_and(|(operands, result)| is_generated(kind, &operands, result))
            }
            OpKind::Iota { .. } => false,
            _ => op.operands.iter().chain(&op.results).all(has_lanes),
        })
    }

    fn repeat(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        let [cond, body] = &op.regions[..] else {
            let message = format!("expected 2 regions, a condition and a body; got {}", op.regions.len());
            return Err(Error::invalid_argument(message));
        };
        let start = self.next_position();
        // Loop-invariant values are not carried.
        let varies = |index: usize| body.results.get(index) != body.params.get(index);
        let mut carried = Vec::new();
        for (index, &operand) in op.operands.iter().enumerate() {
            let inits = self.leaves[operand.0 as usize].clone();
            let places = [cond.params[index], body.params[index], op.results[index]];
            if !varies(index) {
                places.iter().for_each(|place| self.leaves[place.0 as usize] = inits.clone());
                continue;
            }
            self.depth += 1;
            let in_cond = self.define(places[0]);
            let in_body = self.define(places[1]);
            self.depth -= 1;
            let result = self.define(places[2]);
            for (leaf, &init) in inits.iter().enumerate() {
                let [in_cond, in_body, result] = [in_cond[leaf], in_body[leaf], result[leaf]];
                carried.push(Carried { init, in_cond, in_body, next: self.empty, result });
            }
        }
        self.depth += 1;
        let cond_block = self.block(cond)?;
        let predicate = self.flat(&cond.results)[0];
        let decided = self.next_position();
        let body_block = self.block(body)?;
        let nexts = (0..op.operands.len()).filter(|&index| varies(index)).map(|index| body.results[index]);
        let nexts = self.flat(&nexts.collect::<Vec<_>>());
        self.depth -= 1;
        carried.iter_mut().zip(nexts).for_each(|(carried, next)| carried.next = next);
        let end = self.next_position();
        block.nodes.push(Node::While(Box::new(While {
            start,
            decided,
            end,
            carried,
            cond: cond_block,
            predicate,
            body: body_block,
        })));
        Ok(())
    }

    fn switch(&mut self, op: &'m Op, block: &mut Block) -> Result<(), Error> {
        let start = self.next_position();
        let selector = self.flat(&op.operands[..1])[0];
        let mut branches = Vec::with_capacity(op.regions.len());
        for region in &op.regions {
            let first = Value(self.graph.values.len() as u32);
            let block = self.block(region)?;
            let end = self.next_position();
            branches.push(Branch { block, first, end, results: self.flat(&region.results) });
        }
        let end = self.next_position();
        let results = op.results.iter().flat_map(|&result| self.define(result)).collect();
        let by_predicate = matches!(op.kind, OpKind::If);
        block.nodes.push(Node::Switch(Box::new(Switch { start, end, selector, by_predicate, branches, results })));
        Ok(())
    }
}
