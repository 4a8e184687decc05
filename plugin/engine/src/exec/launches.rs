//! The cliques of a program whose processes are run by calls of their own, as torch_xla makes them.

use std::collections::HashMap;
use std::sync::Arc;

use super::rendezvous::{Participant, Rendezvous};
use crate::collective::Clique;
use crate::runtime::Watch;
use crate::sync::Mutex;

/// What calls have in common that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Run {
    /// The launch id that the caller gave them.
    Launch(i64),
    /// How many times the process has run the program.
    Nth(u64),
}

#[derive(Default)]
struct Table {
    /// How many times each process has run the program.
    runs: Vec<u64>,
    /// Launches whose participants have not all come.
    open: HashMap<Run, Arc<Rendezvous>>,
}

/// The cliques of a program that somebody has to join yet.
#[derive(Default)]
pub(crate) struct Launches(Mutex<Table>);

impl Launches {
    /// The participant of a process in its next run of the program, or in that with the launch id.
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
            // The launch id was used before: another run.
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
    /// Closes cliques that failed while they waited for a process: its next run belongs to the others' next one.
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
