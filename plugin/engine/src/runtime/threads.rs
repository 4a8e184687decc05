//! Threads for work that may block: started on demand, reused, and ended when idle.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sync::{Arc, Condvar, Mutex, thread};

/// Work for a thread.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// The idle time after which a thread ends.
const IDLE: Duration = Duration::from_secs(2);

/// The threads of an engine for work that may block. Work never waits for other work: if no thread is idle, another one
/// starts. So there are as many threads as concurrent executions with custom calls, and the client limits those.
pub(crate) struct Threads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job, and threads that are being started for one.
    free: usize,
    alive: usize,
    /// The number of threads started so far.
    started: usize,
    closed: bool,
}

impl Shared {
    /// The loop of a thread.
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

    /// Runs `job` on a thread that does nothing else meanwhile. If the system has no more threads, it returns the job
    /// for the caller to run.
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

    /// The number of threads that wait for a job.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.0.state.lock().free
    }

    /// A counter of the threads that outlives `self`.
    #[cfg(test)]
    pub(super) fn alive(&self) -> impl Fn() -> usize + use<> {
        let shared = Arc::clone(&self.0);
        move || shared.state.lock().alive
    }

    /// The number of threads, and the number started so far.
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
