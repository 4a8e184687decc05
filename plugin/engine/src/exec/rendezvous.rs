//! Rendezvous: executions of one program that meet at its collectives.
//!
//! No thread waits at a collective. A participant that arrives leaves its whole execution with the rendezvous; the last
//! one of a group computes for all, and then all go on. So a clique of any size runs on any number of threads, and a
//! small one on the caller's alone.
//!
//! A participant that fails makes all fail with its error. If every participant has stopped or ended, and no group is
//! complete, the participants' collectives do not match: that is an error, too. Where participants are started one by
//! one, by calls of their own, the others wait for them for a limited time.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use oxcall::Error;

use super::launch::panicked;
use super::task::{Task, fail};
use crate::collective::{Clique, Group, ParticipantBuffers};
use crate::interrupt::{Era, interrupted};
use crate::kernel::Context;
use crate::memory::Buffer;
use crate::runtime::{Waiting, Watch};
use crate::sync::Mutex;

/// Where the participants of one run of a program meet.
pub(crate) struct Rendezvous {
    /// Which of the program's cliques it is of.
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

/// What a participant is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Nobody has started it.
    Missing,
    Running,
    /// It stopped at a collective, which the number says.
    Waiting(u32),
    Ended,
}

struct State {
    doing: Vec<Doing>,
    /// Those who wait, by collective and group, and then by their places in the group.
    waiting: HashMap<(u32, u32), Vec<Option<Task>>>,
    failure: Option<Error>,
    is_watched: bool,
}

/// What is to be done with participants after something happened.
#[derive(Default)]
pub(crate) struct Next {
    /// They go on.
    pub(crate) ready: Vec<Task>,
    /// They end with the rendezvous' error.
    pub(crate) failed: Vec<(Task, Error)>,
}

impl Rendezvous {
    /// A rendezvous whose participants will all be started, if `all_come`; otherwise they have to
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

    /// A participant has come. The answer is whether it was missing.
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

    /// The participants that have not come.
    pub(crate) fn missing(&self) -> Vec<u32> {
        self.state.lock().missing()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state.lock().failure.is_some()
    }

    /// A participant has stopped at a collective.
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

    /// A participant has ended: its outcome, or the error because of which the rendezvous failed; and what becomes of
    /// the others.
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

    /// Sees to it that those who wait do not wait forever, if some participants are missing.
    fn watch(self: &Arc<Rendezvous>, state: &mut State) {
        if state.is_watched || state.missing().is_empty() {
            return;
        }
        self.watch.remember(self);
        state.is_watched = true;
    }

    /// The opposite, once nobody is missing or the rendezvous has failed.
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
    /// Fails, as those who are missing have not come in time.
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

    /// Fails, as the executions that wait for the missing ones are to end.
    fn interrupt(&self) {
        self.fail_waiting(|_| interrupted("a collective that waited for other processes of the program"));
    }
}

/// Computes for a whole group.
fn run_collective(tasks: &[Task], site: u32, group: &Group) -> Result<(), Error> {
    let program = tasks[0].execution.program();
    // SAFETY: all stopped at this collective and go on after it; they are borrowed here, so nobody drops them.
    // Executions have memory of their own, but for what is shared and only read.
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

    /// The error if nobody can go on, though some wait.
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

    /// Fails with `error`: those who wait have to end.
    fn fail_all(&mut self, error: Error) -> Next {
        let waiting = self.waiting.drain().flat_map(|(_, tasks)| tasks).flatten();
        let failed = waiting.map(|task| (task, error.clone())).collect();
        self.failure.get_or_insert(error);
        Next { failed, ..Next::default() }
    }
}
