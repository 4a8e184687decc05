//! Executables: plans with what their executions share and keep.

use std::sync::Arc;

use super::Frames;
use super::gang::{Gang, Seat};
use super::gangs::Gangs;
use crate::plan::Plan;
use crate::runtime::Runtime;

/// A plan that is ready to run.
pub(crate) struct Executable {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) plan: Arc<Plan>,
    pub(super) frames: Frames,
    gangs: Gangs,
    /// For each manual computation of the plan, what its members run.
    pub(super) children: Vec<Arc<Executable>>,
}

impl Executable {
    pub(crate) fn new(runtime: &Arc<Runtime>, plan: Arc<Plan>) -> Arc<Executable> {
        let child = |plan: &Arc<Plan>| Executable::new(runtime, Arc::clone(plan));
        let children = plan.manuals.iter().map(|manual| child(&manual.plan)).collect();
        let (frames, gangs) = (Frames::default(), Gangs::default());
        Arc::new(Executable { runtime: Arc::clone(runtime), plan, frames, gangs, children })
    }

    /// Whether processes meet each other.
    pub(crate) fn has_collectives(&self) -> bool {
        !self.plan.meetings.is_empty()
    }

    /// Whether there are custom calls, whose handlers may block.
    pub(super) fn has_calls(&self) -> bool {
        !self.plan.calls.is_empty()
    }

    /// The place of a process that has no others, if there are collectives.
    pub(crate) fn seat_alone(&self) -> Option<Seat> {
        (self.plan.gangs[0].len() == 1 && self.has_collectives()).then(|| Seat { gang: self.gang(), member: 0 })
    }

    /// Places for one run by all processes, in their order.
    pub(crate) fn seats(&self) -> Vec<Seat> {
        let shared = self.gang();
        let seat = |member| {
            // Processes that never meet do not fail for each other.
            let gang = if self.has_collectives() { Arc::clone(&shared) } else { self.gang() };
            Seat { gang, member }
        };
        (0..self.plan.gangs[0].len() as u32).map(seat).collect()
    }

    /// The place of one process in its next run, or in the run with the launch id.
    pub(crate) fn join(&self, process: usize, launch: Option<i64>) -> Seat {
        let member = process as u32;
        if self.has_collectives() {
            return self.gangs.join(&self.plan.gangs[0], member, launch, &self.runtime.watch);
        }
        Seat { gang: self.gang(), member }
    }

    /// A gang whose members will all be started.
    fn gang(&self) -> Arc<Gang> {
        Gang::new(0, &self.plan.gangs[0], true, &self.runtime.watch)
    }
}
