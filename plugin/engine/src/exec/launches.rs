//! Cliques of a program whose processes are launched by separate calls, as torch_xla does.

use std::collections::HashMap;
use std::sync::Arc;

use super::rendezvous::{Participant, Rendezvous};
use crate::collective::Clique;
use crate::runtime::Watch;
use crate::sync::Mutex;

/// The key of the calls that belong to one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Run {
    /// The launch id that the caller gave.
    Launch(i64),
    /// The number of times that the process has run the program before.
    Nth(u64),
}

#[derive(Default)]
struct Table {
    /// The number of runs of each process.
    runs: Vec<u64>,
    /// Runs whose participants have not all joined.
    open: HashMap<Run, Arc<Rendezvous>>,
}

/// The runs of a program that some participants have not joined yet.
#[derive(Default)]
pub(crate) struct Launches(Mutex<Table>);

impl Launches {
    /// The participant of a process in its next run of the program, or in the run with the given launch id.
    pub(crate) fn join(
        &self,
        clique: &Arc<Clique>,
        process: u32,
        launch: Option<i64>,
        watch: &Arc<Watch>,
    ) -> Participant {
        let mut table = self.0.lock();
        table.runs.resize(clique.len(), 0);
        table.give_up();
        let run = launch.map_or_else(
            || {
                table.runs[process as usize] += 1;
                Run::Nth(table.runs[process as usize])
            },
            Run::Launch,
        );
        let rendezvous = table.open.entry(run).or_insert_with(|| Rendezvous::new(0, clique, false, watch));
        let mut rendezvous = Arc::clone(rendezvous);
        if !rendezvous.join(process) {
            // The launch id has been used before: this is another run.
            rendezvous = Rendezvous::new(0, clique, false, watch);
            rendezvous.join(process);
            table.open.insert(run, Arc::clone(&rendezvous));
        }
        if rendezvous.missing().is_empty() {
            table.open.remove(&run);
        }
        Participant { rendezvous, rank: process }
    }
}

impl Table {
    /// Closes runs that failed while they waited for a process: the next run of that process joins the next one of the
    /// others.
    fn give_up(&mut self) {
        let runs = &mut self.runs;
        self.open.retain(|run, rendezvous| {
            let failed = rendezvous.has_failed();
            if let (true, Run::Nth(nth)) = (failed, run) {
                for rank in rendezvous.missing() {
                    let run = &mut runs[rank as usize];
                    *run = (*run).max(*nth);
                }
            }
            !failed
        });
    }
}
