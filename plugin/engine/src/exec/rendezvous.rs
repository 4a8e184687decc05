//! Rendezvous: executions of one program that meet at its collectives.
//!
//! No thread waits at a collective. A participant that arrives hands its whole execution to the rendezvous; the last
//! participant of a group computes for all of them, and then all resume. So a clique of any size runs on any number of
//! threads, and a small one on the caller's thread alone.
//!
//! If one participant fails, all fail with its error. If every participant has stopped or ended and no group is
//! complete, the participants' collectives do not match, which is also an error. Where participants are launched by
//! separate calls, those that have arrived wait for the rest for a limited time.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use oxcall::Error;
use oxcall_kernels::interrupt::{Era, interrupted};
use oxcall_kernels::kernel::Context;
use oxcall_kernels::memory::Buffer;

use super::launch::panicked;
use super::task::{Task, fail};
use crate::collective::{Clique, Group, ParticipantBuffers};
use crate::runtime::{Waiting, Watch};
use crate::sync::Mutex;

/// The meeting point of the participants of one run of a program.
pub(crate) struct Rendezvous {
    /// The index of its clique among the program's.
    index: u32,
    clique: Arc<Clique>,
    watch: Arc<Watch>,
    state: Mutex<State>,
}

/// An execution's place in a rendezvous.
pub(crate) struct Participant {
    pub(crate) rendezvous: Arc<Rendezvous>,
    pub(crate) rank: u32,
}

impl Participant {
    /// The ids of the process: replica and partition.
    pub(crate) fn ids(&self) -> [u32; 2] {
        self.rendezvous.clique.ids(self.rank as usize)
    }
}

/// The state of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// It has not been started.
    Missing,
    Running,
    /// It stopped at the collective with this index.
    Waiting(u32),
    Ended,
}

struct State {
    doing: Vec<Doing>,
    /// The waiting executions, by collective and group, and then by their places in the group.
    waiting: HashMap<(u32, u32), Vec<Option<Task>>>,
    failure: Option<Error>,
    is_watched: bool,
}

/// Participants on which the caller has to act after an event.
#[derive(Default)]
pub(crate) struct Next {
    /// Participants that resume.
    pub(crate) ready: Vec<Task>,
    /// Participants that end with the rendezvous' error.
    pub(crate) failed: Vec<(Task, Error)>,
}

impl Rendezvous {
    /// A rendezvous. If `all_come`, all participants will be started; otherwise they have to
    /// [`join`](Rendezvous::join).
    pub(crate) fn new(index: u32, clique: &Arc<Clique>, all_come: bool, watch: &Arc<Watch>) -> Arc<Rendezvous> {
        let doing = vec![if all_come { Doing::Running } else { Doing::Missing }; clique.len()];
        let state = State { doing, waiting: HashMap::new(), failure: None, is_watched: false };
        let (clique, watch) = (Arc::clone(clique), Arc::clone(watch));
        Arc::new(Rendezvous { index, clique, watch, state: Mutex::new(state) })
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn len(&self) -> usize {
        self.clique.len()
    }

    /// Marks a participant as started. Returns whether it was missing.
    pub(crate) fn join(&self, rank: u32) -> bool {
        let mut state = self.state.lock();
        let doing = &mut state.doing[rank as usize];
        let was_missing = *doing == Doing::Missing;
        if was_missing {
            *doing = Doing::Running;
            self.unwatch(&mut state);
        }
        was_missing
    }

    /// The participants that have not joined.
    pub(crate) fn missing(&self) -> Vec<u32> {
        self.state.lock().missing()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state.lock().failure.is_some()
    }

    /// Registers a participant that has stopped at a collective.
    pub(crate) fn arrive(self: &Arc<Rendezvous>, task: Task, site: u32) -> Next {
        let program = Arc::clone(task.execution.program());
        let collective = &program.plan.collectives[site as usize];
        let rank = task.execution.participant().map_or(0, |participant| participant.rank);
        let groups = &collective.groups[self.index as usize];
        let number = groups.of[rank as usize];
        let group = &groups.groups[number as usize];
        let mut state = self.state.lock();
        if let Some(failure) = &state.failure {
            let failure = failure.clone();
            return Next { failed: vec![(task, failure)], ..Next::default() };
        }
        let place = group.ranks.iter().position(|&each| each == rank).unwrap_or(0);
        let size = group.ranks.len();
        let waiting = state.waiting.entry((site, number)).or_insert_with(|| (0..size).map(|_| None).collect());
        waiting[place] = Some(task);
        if waiting.iter().any(Option::is_none) {
            state.doing[rank as usize] = Doing::Waiting(site);
            if let Some(error) = state.stuck(&self.clique, |site| &program.plan.collectives[site as usize].name) {
                return state.fail_all(error);
            }
            self.watch(&mut state);
            return Next::default();
        }
        let tasks: Vec<Task> = state.waiting.remove(&(site, number)).into_iter().flatten().flatten().collect();
        group.ranks.iter().for_each(|&rank| state.doing[rank as usize] = Doing::Running);
        drop(state);
        let run = AssertUnwindSafe(|| run_collective(&tasks, site, group));
        match catch_unwind(run).unwrap_or_else(|payload| Err(panicked(&*payload))) {
            Ok(()) => Next { ready: tasks, ..Next::default() },
            Err(error) => {
                let error = error.context(&collective.name);
                let failed = tasks.into_iter().map(|task| (task, error.clone()));
                let failed = failed.collect::<Vec<_>>();
                let mut state = self.state.lock();
                let mut next = state.fail_all(error);
                self.unwatch(&mut state);
                next.failed.extend(failed);
                next
            }
        }
    }

    /// Registers the end of a participant. Returns its outcome, or the error with which the rendezvous failed, and what
    /// the other participants have to do.
    pub(crate) fn end(
        &self,
        rank: u32,
        outcome: Result<Vec<Buffer>, Error>,
        name: impl Fn(u32) -> String,
    ) -> (Result<Vec<Buffer>, Error>, Next) {
        let mut state = self.state.lock();
        state.doing[rank as usize] = Doing::Ended;
        if let Some(failure) = &state.failure {
            return (Err(failure.clone()), Next::default());
        }
        match outcome {
            Ok(results) => {
                let next = match state.stuck(&self.clique, name) {
                    Some(error) => state.fail_all(error),
                    None => Next::default(),
                };
                (Ok(results), next)
            }
            Err(error) if self.len() == 1 => (Err(error), Next::default()),
            Err(error) => {
                let place = self.clique.name(rank as usize);
                let error = Error::new(error.code(), format!("{place}: {}", error.message()));
                let next = state.fail_all(error.clone());
                self.unwatch(&mut state);
                (Err(error), next)
            }
        }
    }

    /// Starts the time limit for the waiting participants, if some participants are missing.
    fn watch(self: &Arc<Rendezvous>, state: &mut State) {
        if state.is_watched || state.missing().is_empty() {
            return;
        }
        self.watch.remember(self);
        state.is_watched = true;
    }

    /// Stops the time limit, once no participant is missing or the rendezvous has failed.
    fn unwatch(&self, state: &mut State) {
        if state.is_watched && (state.failure.is_some() || state.missing().is_empty()) {
            self.watch.forget(self);
            state.is_watched = false;
        }
    }

    /// Fails if participants are missing.
    fn fail_waiting(&self, error: impl FnOnce(Vec<u32>) -> Error) {
        let mut state = self.state.lock();
        let missing = state.missing();
        if state.failure.is_some() || missing.is_empty() {
            return;
        }
        let next = state.fail_all(error(missing));
        self.unwatch(&mut state);
        drop(state);
        fail(next);
    }
}

impl Waiting for Rendezvous {
    /// Fails because the missing participants have not arrived in time.
    fn give_up(&self) {
        self.fail_waiting(|missing| {
            let names: Vec<String> = missing.into_iter().map(|rank| self.clique.name(rank as usize)).collect();
            Error::deadline_exceeded(format!(
                "a collective waited {} seconds for {}, which did not run; run the program on all of its devices \
                 (OXCALL_COLLECTIVE_TIMEOUT sets the seconds)",
                self.watch.timeout.as_secs(),
                names.join("; ")
            ))
        });
    }

    /// Fails because the executions that wait for missing participants have been interrupted.
    fn interrupt(&self) {
        self.fail_waiting(|_| interrupted("a collective that waited for other processes of the program"));
    }
}

/// Runs the collective for a whole group.
fn run_collective(tasks: &[Task], site: u32, group: &Group) -> Result<(), Error> {
    let program = tasks[0].execution.program();
    // SAFETY: all executions stopped at this collective and resume after it; they are borrowed here, so none is
    // dropped. Their memory is separate, except for shared memory, which is only read.
    let participants: Vec<ParticipantBuffers<'_>> =
        tasks.iter().map(|task| unsafe { task.execution.buffers() }).collect();
    let cx = Context { pool: &program.runtime.pool, memory: &program.runtime.allocator, era: Era::now() };
    program.plan.collectives[site as usize].kernel.run(cx, group, participants)
}

impl State {
    fn missing(&self) -> Vec<u32> {
        let missing = |&(_, doing): &(usize, &Doing)| *doing == Doing::Missing;
        self.doing.iter().enumerate().filter(missing).map(|(rank, _)| rank as u32).collect()
    }

    /// The error for a rendezvous in which some participants wait and none can resume.
    fn stuck<N: std::fmt::Display>(&self, clique: &Clique, name: impl Fn(u32) -> N) -> Option<Error> {
        let may_go_on = |doing: &Doing| matches!(doing, Doing::Missing | Doing::Running);
        if self.doing.iter().any(may_go_on) || self.waiting.is_empty() {
            return None;
        }
        let each = self.doing.iter().enumerate().map(|(rank, doing)| {
            let who = clique.name(rank);
            match doing {
                Doing::Waiting(site) => format!("{who} waits in {}", name(*site)),
                _ => format!("{who} has ended"),
            }
        });
        let all = each.collect::<Vec<_>>().join("; ");
        Some(Error::failed_precondition(format!("the collectives of the program's processes do not match: {all}")))
    }

    /// Fails with `error`, which ends all waiting participants.
    fn fail_all(&mut self, error: Error) -> Next {
        let waiting = self.waiting.drain().flat_map(|(_, tasks)| tasks).flatten();
        let failed = waiting.map(|task| (task, error.clone())).collect();
        self.failure.get_or_insert(error);
        Next { failed, ..Next::default() }
    }
}
