//! Gangs: executions of one program that meet at its collectives.
//!
//! No thread waits at a collective. A member that arrives leaves its whole execution with the gang; the last one of a
//! group computes for all, and then all go on. So a gang of any size runs on any number of threads, and a small one on
//! the caller's alone.
//!
//! A member that fails makes all fail with its error. If every member has stopped or ended, and no group is complete,
//! the members' collectives do not match: that is an error, too. Where members are started one by one, by calls of
//! their own, the others wait for them for a limited time.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxcall::Error;

use super::launch::panicked;
use super::task::{Task, fail};
use crate::collective::{Group, Member, Members};
use crate::interrupt::{Era, interrupted};
use crate::kernel::Context;
use crate::memory::Buffer;
use crate::runtime::{Waiting, Watch};

/// A gang.
pub(crate) struct Gang {
    /// Which of the program's gangs it is one of.
    kind: u32,
    members: Arc<Members>,
    watch: Arc<Watch>,
    state: Mutex<State>,
}

/// The place of an execution in a gang.
pub(crate) struct Seat {
    pub(crate) gang: Arc<Gang>,
    pub(crate) member: u32,
}

impl Seat {
    /// The ids of the process: replica and partition.
    pub(crate) fn ids(&self) -> [u32; 2] {
        self.gang.members.ids(self.member as usize)
    }
}

/// What a member is doing.
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
    meetings: HashMap<(u32, u32), Vec<Option<Task>>>,
    failure: Option<Error>,
    is_watched: bool,
}

/// What is to be done with members after something happened.
#[derive(Default)]
pub(crate) struct Next {
    /// They go on.
    pub(crate) ready: Vec<Task>,
    /// They end with the gang's error.
    pub(crate) failed: Vec<(Task, Error)>,
}

/// The same error for another one who has to be told.
pub(super) fn copy(error: &Error) -> Error {
    Error::new(error.code(), error.message())
}

impl Gang {
    /// A gang whose members will all be started, if `all_come`; otherwise they have to [`join`](Gang::join).
    pub(crate) fn new(kind: u32, members: &Arc<Members>, all_come: bool, watch: &Arc<Watch>) -> Arc<Gang> {
        let doing = vec![if all_come { Doing::Running } else { Doing::Missing }; members.len()];
        let state = State { doing, meetings: HashMap::new(), failure: None, is_watched: false };
        let (members, watch) = (Arc::clone(members), Arc::clone(watch));
        Arc::new(Gang { kind, members, watch, state: Mutex::new(state) })
    }

    pub(crate) fn kind(&self) -> u32 {
        self.kind
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// A member has come. The answer is whether it was missing.
    pub(crate) fn join(&self, member: u32) -> bool {
        let mut state = self.lock();
        let doing = &mut state.doing[member as usize];
        let was_missing = *doing == Doing::Missing;
        if was_missing {
            *doing = Doing::Running;
            self.unwatch(&mut state);
        }
        was_missing
    }

    /// The members that have not come.
    pub(crate) fn missing(&self) -> Vec<u32> {
        self.lock().missing()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A member has stopped at a collective.
    pub(crate) fn arrive(self: &Arc<Gang>, task: Task, site: u32) -> Next {
        let program = Arc::clone(task.execution.program());
        let meeting = &program.plan.meetings[site as usize];
        let member = task.execution.seat().map_or(0, |seat| seat.member);
        let groups = &meeting.groups[self.kind as usize];
        let number = groups.of[member as usize];
        let group = &groups.groups[number as usize];
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            let failure = copy(failure);
            return Next { failed: vec![(task, failure)], ..Next::default() };
        }
        let place = group.members.iter().position(|&each| each == member).unwrap_or(0);
        let size = group.members.len();
        let waiting = state.meetings.entry((site, number)).or_insert_with(|| (0..size).map(|_| None).collect());
        waiting[place] = Some(task);
        if waiting.iter().any(Option::is_none) {
            state.doing[member as usize] = Doing::Waiting(site);
            if let Some(error) = state.stuck(&self.members, |site| &program.plan.meetings[site as usize].name) {
                return state.fail_all(error);
            }
            self.watch(&mut state);
            return Next::default();
        }
        let tasks: Vec<Task> = state.meetings.remove(&(site, number)).into_iter().flatten().flatten().collect();
        group.members.iter().for_each(|&member| state.doing[member as usize] = Doing::Running);
        drop(state);
        let run = AssertUnwindSafe(|| exchange(&tasks, site, group));
        match catch_unwind(run).unwrap_or_else(|payload| Err(panicked(&*payload))) {
            Ok(()) => Next { ready: tasks, ..Next::default() },
            Err(error) => {
                let error = error.context(&meeting.name);
                let failed = tasks.into_iter().map(|task| (task, copy(&error)));
                let failed = failed.collect::<Vec<_>>();
                let mut state = self.lock();
                let mut next = state.fail_all(error);
                self.unwatch(&mut state);
                next.failed.extend(failed);
                next
            }
        }
    }

    /// A member has ended: its outcome, or the error because of which the gang failed; and what becomes of the others.
    pub(crate) fn end(
        &self,
        member: u32,
        outcome: Result<Vec<Buffer>, Error>,
        name: impl Fn(u32) -> String,
    ) -> (Result<Vec<Buffer>, Error>, Next) {
        let mut state = self.lock();
        state.doing[member as usize] = Doing::Ended;
        if let Some(failure) = &state.failure {
            return (Err(copy(failure)), Next::default());
        }
        match outcome {
            Ok(results) => {
                let next = match state.stuck(&self.members, name) {
                    Some(error) => state.fail_all(error),
                    None => Next::default(),
                };
                (Ok(results), next)
            }
            Err(error) if self.len() == 1 => (Err(error), Next::default()),
            Err(error) => {
                let place = self.members.name(member as usize);
                let error = Error::new(error.code(), format!("{place}: {}", error.message()));
                let next = state.fail_all(copy(&error));
                self.unwatch(&mut state);
                (Err(error), next)
            }
        }
    }

    /// Sees to it that those who wait do not wait forever, if some members are missing.
    fn watch(self: &Arc<Gang>, state: &mut State) {
        if state.is_watched || state.missing().is_empty() {
            return;
        }
        self.watch.remember(self);
        state.is_watched = true;
    }

    /// The opposite, once nobody is missing or the gang has failed.
    fn unwatch(&self, state: &mut State) {
        if state.is_watched && (state.failure.is_some() || state.missing().is_empty()) {
            self.watch.forget(self);
            state.is_watched = false;
        }
    }

    /// Fails if members are missing.
    fn fail_waiting(&self, error: impl FnOnce(Vec<u32>) -> Error) {
        let mut state = self.lock();
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

impl Waiting for Gang {
    /// Fails, as those who are missing have not come in time.
    fn give_up(&self) {
        self.fail_waiting(|missing| {
            let names: Vec<String> = missing.into_iter().map(|member| self.members.name(member as usize)).collect();
            Error::deadline_exceeded(format!(
                "other processes of the program waited {} seconds at a collective for {}, which nobody ran",
                self.watch.timeout.as_secs(),
                names.join("; ")
            ))
        });
    }

    /// Fails, as the executions that wait for the missing ones are to end.
    fn interrupt(&self) {
        self.fail_waiting(|_| interrupted("a collective that waited for other processes of its program"));
    }
}

/// Computes for a whole group.
fn exchange(tasks: &[Task], site: u32, group: &Group) -> Result<(), Error> {
    let program = tasks[0].execution.program();
    // SAFETY: all stopped at this collective and go on after it; they are borrowed here, so nobody drops them.
    // Executions have memory of their own, but for what is shared and only read.
    let members: Vec<Member<'_>> = tasks.iter().map(|task| unsafe { task.execution.member() }).collect();
    let cx = Context { pool: &program.runtime.pool, memory: &program.runtime.allocator, era: Era::now() };
    program.plan.meetings[site as usize].exchange.run(cx, group, members)
}

impl State {
    fn missing(&self) -> Vec<u32> {
        let missing = |&(_, doing): &(usize, &Doing)| *doing == Doing::Missing;
        self.doing.iter().enumerate().filter(missing).map(|(member, _)| member as u32).collect()
    }

    /// The error if nobody can go on, though some wait.
    fn stuck<N: std::fmt::Display>(&self, members: &Members, name: impl Fn(u32) -> N) -> Option<Error> {
        let may_go_on = |doing: &Doing| matches!(doing, Doing::Missing | Doing::Running);
        if self.doing.iter().any(may_go_on) || self.meetings.is_empty() {
            return None;
        }
        let each = self.doing.iter().enumerate().map(|(member, doing)| {
            let who = members.name(member);
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
        let waiting = self.meetings.drain().flat_map(|(_, tasks)| tasks).flatten();
        let failed = waiting.map(|task| (task, copy(&error))).collect();
        self.failure.get_or_insert(error);
        Next { failed, ..Next::default() }
    }
}
