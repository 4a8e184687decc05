//! The gangs of a program whose processes are run by calls of their own, as torch_xla makes them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::gang::{Gang, Seat};
use crate::collective::Members;
use crate::runtime::Watch;

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
    /// Gangs whose members have not all come.
    open: HashMap<Run, Arc<Gang>>,
}

/// The gangs of a program that somebody has to join yet.
#[derive(Default)]
pub(crate) struct Gangs(Mutex<Table>);

impl Gangs {
    /// The seat of a process in its next run of the program, or in that with the launch id.
    pub(crate) fn join(&self, members: &Arc<Members>, process: u32, launch: Option<i64>, watch: &Arc<Watch>) -> Seat {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.runs.resize(members.len(), 0);
        table.give_up();
        let run = launch.map_or_else(
            || {
                table.runs[process as usize] += 1;
                Run::Nth(table.runs[process as usize])
            },
            Run::Launch,
        );
        let gang = table.open.entry(run).or_insert_with(|| Gang::new(0, members, false, watch));
        let mut gang = Arc::clone(gang);
        if !gang.join(process) {
            // The launch id was used before: another run.
            gang = Gang::new(0, members, false, watch);
            gang.join(process);
            table.open.insert(run, Arc::clone(&gang));
        }
        if gang.missing().is_empty() {
            table.open.remove(&run);
        }
        Seat { gang, member: process }
    }
}

impl Table {
    /// Closes gangs that failed while they waited for a process: its next run belongs to the others' next one.
    fn give_up(&mut self) {
        let runs = &mut self.runs;
        self.open.retain(|run, gang| {
            let failed = gang.has_failed();
            if let (true, Run::Nth(nth)) = (failed, run) {
                for member in gang.missing() {
                    let run = &mut runs[member as usize];
                    *run = (*run).max(*nth);
                }
            }
            !failed
        });
    }
}
