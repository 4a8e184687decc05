//! Lowering of collectives and manual computations.

use oxcall::Error;
use oxcall_hlo::sharding::ManualComputation;
use oxcall_hlo::{Op, Region};

use super::Lowering;
use super::manual::manual_site;
use crate::collective::{self, Groups};
use crate::compile::graph::{Block, Compute, Node, Value, Work};
use crate::plan::CollectiveSite;

impl<'m> Lowering<'m> {
    pub(super) fn collective(&mut self, op: &Op, block: &mut Block) -> Result<(), Error> {
        let groups =
            self.cliques.iter().map(|clique| Groups::resolve(&op.kind, clique)).collect::<Result<Vec<_>, _>>()?;
        let kernel = collective::make(op, self.func, &groups)?;
        let inputs = self.flat(&op.operands);
        let outputs: Vec<Value> = op.results.iter().flat_map(|&result| self.define(result)).collect();
        if outputs.iter().all(|&output| self.graph.info(output).bytes == 0) {
            return Ok(());
        }
        self.charge(kernel.cost());
        let at = self.next_position();
        let name = match self.module.location(op.location) {
            oxcall_hlo::Location::Unknown => op.kind.name().to_owned(),
            place => format!("{} (at {place})", op.kind.name()),
        };
        let (work, aliases) = (Work::Collective(self.collectives.len() as u32), kernel.in_place());
        self.collectives.push(CollectiveSite { name, kernel, groups });
        block.nodes.push(Node::Compute(Compute { at, work, inputs, outputs, aliases, must_alias: false }));
        Ok(())
    }

    pub(super) fn manual_computation(
        &mut self,
        op: &Op,
        manual: &ManualComputation,
        block: &mut Block,
    ) -> Result<(), Error> {
        let captures = Region::free_values(&op.regions);
        let site = manual_site(self.module, op, manual, &captures, self.runtime, self.cliques, self.plan)?;
        self.charge(site.cost());
        let mut inputs = self.flat(&op.operands);
        inputs.extend(self.flat(&captures));
        let outputs = op.results.iter().flat_map(|&result| self.define(result)).collect();
        let (at, work) = (self.next_position(), Work::Manual(self.manuals.len() as u32));
        self.manuals.push(site);
        let aliases = Vec::new();
        block.nodes.push(Node::Compute(Compute { at, work, inputs, outputs, aliases, must_alias: false }));
        Ok(())
    }
}
