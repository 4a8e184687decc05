//! Executables: plans, with the data that their executions share and reuse.

use std::sync::Arc;

use super::Frames;
use super::launches::Launches;
use super::rendezvous::{Participant, Rendezvous};
use crate::plan::Plan;
use crate::runtime::Runtime;

/// A plan that is ready to run.
pub(crate) struct Executable {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) plan: Arc<Plan>,
    pub(super) frames: Frames,
    launches: Launches,
    /// The executable that the participants of each manual computation run.
    pub(super) children: Vec<Arc<Executable>>,
}

impl Executable {
    pub(crate) fn new(runtime: &Arc<Runtime>, plan: Arc<Plan>) -> Arc<Executable> {
        let child = |plan: &Arc<Plan>| Executable::new(runtime, Arc::clone(plan));
        let children = plan.manuals.iter().map(|manual| child(&manual.plan)).collect();
        let (frames, launches) = (Frames::default(), Launches::default());
        Arc::new(Executable { runtime: Arc::clone(runtime), plan, frames, launches, children })
    }

    /// Whether the plan has collectives.
    pub(crate) fn has_collectives(&self) -> bool {
        !self.plan.collectives.is_empty()
    }

    /// Whether the plan has custom calls, whose handlers may block.
    pub(super) fn has_calls(&self) -> bool {
        !self.plan.calls.is_empty()
    }

    /// The participant of a program with one process, if the program has collectives.
    pub(crate) fn lone_participant(&self) -> Option<Participant> {
        (self.plan.cliques[0].len() == 1 && self.has_collectives())
            .then(|| Participant { rendezvous: self.rendezvous(), rank: 0 })
    }

    /// Participants for one run by all processes, in their order.
    pub(crate) fn participants(&self) -> Vec<Participant> {
        let shared = self.rendezvous();
        let participant = |rank| {
            // Processes without collectives do not fail because another one fails.
            let rendezvous = if self.has_collectives() { Arc::clone(&shared) } else { self.rendezvous() };
            Participant { rendezvous, rank }
        };
        (0..self.plan.cliques[0].len() as u32).map(participant).collect()
    }

    /// The participant of one process in its next run, or in the run with the given launch id.
    pub(crate) fn join(&self, process: usize, launch: Option<i64>) -> Participant {
        let rank = process as u32;
        if self.has_collectives() {
            return self.launches.join(&self.plan.cliques[0], rank, launch, &self.runtime.watch);
        }
        Participant { rendezvous: self.rendezvous(), rank }
    }

    /// A rendezvous for a run in which all participants will be started.
    fn rendezvous(&self) -> Arc<Rendezvous> {
        Rendezvous::new(0, &self.plan.cliques[0], true, &self.runtime.watch)
    }
}
