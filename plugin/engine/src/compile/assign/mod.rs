//! Buffer assignment: the memory of each value, and the steps over it.
//!
//! 1. `liveness` finds the last use of each value.
//! 2. `assigner` gives each value a logical buffer (`buffers`): that of an operand if the kernel may work in place,
//!    that of a donated argument, or a new one; and writes the steps. The results of a `branch` take the buffer of a
//!    value from outside it, where `origin` finds one.
//! 3. `table` gives each logical buffer an allocation: a part of the arena (`arena`), or, for results, a separate one.

mod arena;
mod assigner;
mod buffers;
mod liveness;
mod origin;
mod table;

use oxcall_hlo::ValueId;

use self::assigner::{Assigned, buffers_of};
use self::liveness::last_uses;
use self::table::Table;
use super::graph::Graph;
use crate::plan::{Allocation, Parameter, Slot, Step};

/// The steps of a plan, and the memory that they work on; see [`Plan`](crate::plan::Plan).
pub(super) struct Assignment {
    pub(super) steps: Vec<Step>,
    pub(super) slots: Vec<Slot>,
    pub(super) values: Vec<Option<ValueId>>,
    pub(super) results: Vec<Slot>,
    pub(super) allocations: Vec<(Allocation, usize)>,
    pub(super) arena: usize,
    pub(super) own: Vec<usize>,
    pub(super) written: Vec<bool>,
}

/// Assigns buffers to all values of `graph`, and takes its blocks.
pub(super) fn assign(graph: &mut Graph, parameters: &[Parameter]) -> Assignment {
    let last = last_uses(graph);
    let Assigned { steps, slots, values, buffers, results } = buffers_of(graph, &last, parameters);
    let table = Table::new(&buffers);
    Assignment {
        steps: steps.into_iter().map(|step| table.resolve(&buffers, step)).collect(),
        slots: slots.into_iter().map(|slot| table.slot(&buffers, slot)).collect(),
        values,
        results: results.into_iter().map(|id| table.slot(&buffers, id.0)).collect(),
        written: table.written(&buffers, parameters.len()),
        allocations: table.allocations,
        arena: table.arena,
        own: table.own,
    }
}
