//! The table of slots: the allocation of each remaining logical buffer.

use super::arena::{self, Request};
use super::buffers::{BufferId, Kind, LogicalBuffers};
use crate::plan::{Allocation, Step};

/// The buffers that become slots of a table.
pub(super) struct Table {
    /// The slot of each root buffer.
    slots: Vec<u32>,
    pub(super) allocations: Vec<(Allocation, usize)>,
    pub(super) arena: usize,
    pub(super) own: Vec<usize>,
}

impl Table {
    pub(super) fn new(buffers: &LogicalBuffers) -> Table {
        let roots: Vec<BufferId> = buffers.roots().collect();
        let count = buffers.next().0 as usize;
        // Buffers that swap places live as long as all of them together. If one of them is a result or an argument,
        // each gets a separate allocation.
        let mut live = vec![(u32::MAX, 0); count];
        let mut is_own = vec![false; count];
        for &id in &roots {
            let class = buffers.class(id).0 as usize;
            let (first, last) = buffers.live(id);
            live[class] = (first.min(live[class].0), last.max(live[class].1));
            is_own[class] |= buffers.is_result(id) || matches!(buffers.kind(id), Kind::Parameter(_));
        }
        let mut table = Table { slots: vec![0; count], allocations: Vec::new(), arena: 0, own: Vec::new() };
        let mut requests = Vec::new();
        let mut in_arena = Vec::new();
        for &id in &roots {
            let class = buffers.class(id).0 as usize;
            let bytes = buffers.bytes(id);
            let slot = table.allocations.len();
            table.slots[id.0 as usize] = slot as u32;
            let allocation = match buffers.kind(id) {
                Kind::Empty => Allocation::Empty,
                Kind::Parameter(index) => Allocation::Parameter(index),
                Kind::Constant(index) => Allocation::Constant(index),
                Kind::Id(id) => Allocation::Id(id),
                Kind::New if is_own[class] => {
                    table.own.push(bytes);
                    Allocation::Own(table.own.len() as u32 - 1)
                }
                Kind::New => {
                    requests.push(Request { bytes, live: live[class] });
                    in_arena.push(slot);
                    Allocation::Arena(0)
                }
            };
            table.allocations.push((allocation, bytes));
        }
        let (offsets, arena) = arena::assign(&requests);
        for (slot, offset) in in_arena.into_iter().zip(offsets) {
            table.allocations[slot].0 = Allocation::Arena(offset);
        }
        table.arena = arena;
        table
    }

    pub(super) fn slot(&self, buffers: &LogicalBuffers, id: u32) -> u32 {
        self.slots[buffers.root(BufferId(id)).0 as usize]
    }

    /// For each parameter, whether its memory is written or returned to the caller.
    pub(super) fn written(&self, buffers: &LogicalBuffers, parameters: usize) -> Vec<bool> {
        let mut written = vec![false; parameters];
        for id in buffers.roots() {
            if let Kind::Parameter(index) = buffers.kind(id) {
                written[index as usize] = buffers.is_written(id) || buffers.is_result(id);
            }
        }
        written
    }

    pub(super) fn resolve(&self, buffers: &LogicalBuffers, step: Step) -> Step {
        let slot = |id| self.slot(buffers, id);
        match step {
            Step::Copy { from, to } => Step::Copy { from: slot(from), to: slot(to) },
            Step::Rotate(slots) => Step::Rotate(slots.iter().map(|&id| slot(id)).collect()),
            Step::JumpUnless { predicate, target } => Step::JumpUnless { predicate: slot(predicate), target },
            Step::Branch { index, targets } => Step::Branch { index: slot(index), targets },
            other => other,
        }
    }
}
