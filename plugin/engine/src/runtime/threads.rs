//! Threads for work that may block: started when they are needed, used again, and ended when there is nothing to do.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sync::{Arc, Condvar, Mutex, thread};

/// Work for a thread.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// A thread that has had nothing to do for so long ends.
const IDLE: Duration = Duration::from_secs(2);

/// The threads of an engine for work that may block. Work never waits for other work: where no thread is idle, another
/// one is started. So there are as many as there are executions with custom calls at a time, which the client limits.
pub(crate) struct Threads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job, and those that are being started for one.
    free: usize,
    alive: usize,
    /// How many were ever started.
    started: usize,
    closed: bool,
}

impl Shared {
    /// What a thread does.
    fn serve(&self) {
        let (mut state, mut idle) = (self.state.lock(), false);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.free -= 1;
                drop(state);
                job();
                (state, idle) = (self.state.lock(), false);
                state.free += 1;
                continue;
            }
            if idle || state.closed {
                state.free -= 1;
                state.alive -= 1;
                return;
            }
            (state, idle) = self.arrived.wait_timeout(state, IDLE);
        }
    }
}

impl Threads {
    pub(crate) fn new() -> Threads {
        Threads(Arc::default())
    }

    /// Does `job` on a thread that does nothing else meanwhile. If the system has no more threads, a job is given back,
    /// which is for the caller to do.
    pub(crate) fn spawn(&self, job: Job) -> Option<Job> {
        let mut state = self.0.state.lock();
        state.jobs.push_back(job);
        if state.jobs.len() <= state.free {
            drop(state);
            self.0.arrived.notify_one();
            return None;
        }
        (state.free, state.alive, state.started) = (state.free + 1, state.alive + 1, state.started + 1);
        drop(state);
        let shared = Arc::clone(&self.0);
        if thread::Builder::new().name("oxcall-run".to_owned()).spawn(move || shared.serve()).is_ok() {
            return None;
        }
        let mut state = self.0.state.lock();
        (state.free, state.alive, state.started) = (state.free - 1, state.alive - 1, state.started - 1);
        state.jobs.pop_back()
    }

    /// How many threads wait for a job.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.0.state.lock().free
    }

    /// What tells how many threads there are, also when this is gone.
    #[cfg(test)]
    pub(super) fn alive(&self) -> impl Fn() -> usize + use<> {
        let shared = Arc::clone(&self.0);
        move || shared.state.lock().alive
    }

    /// How many threads there are, and how many were ever started.
    #[cfg(test)]
    pub(crate) fn count(&self) -> (usize, usize) {
        let state = self.0.state.lock();
        (state.alive, state.started)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.state.lock().closed = true;
        self.0.arrived.notify_all();
    }
}
