//! Time limits for executions that wait for calls that may never come.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Something that waits for calls.
pub(crate) trait Waiting: Send + Sync {
    /// Called when the time is up.
    fn give_up(&self);

    /// Called when the wait has to end now.
    fn interrupt(&self);
}

/// One thread for everything that waits on an engine. It runs while something waits, and a little longer.
pub(crate) struct Watch {
    /// The time limit of each wait.
    pub(crate) timeout: Duration,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The waiting objects, by address.
    waiting: HashMap<usize, (Instant, Weak<dyn Waiting>)>,
    has_thread: bool,
}

/// The time for which the thread stays when nothing waits.
const IDLE: Duration = Duration::from_secs(2);

impl Watch {
    pub(crate) fn new(timeout: Duration) -> Watch {
        Watch { timeout, shared: Arc::default() }
    }

    /// Makes `waiting` give up unless it is [forgotten](Watch::forget) in time.
    pub(crate) fn remember<W: Waiting + 'static>(&self, waiting: &Arc<W>) {
        let address = Arc::as_ptr(waiting).addr();
        let waiting: Weak<W> = Arc::downgrade(waiting);
        let mut state = self.shared.state.lock();
        state.waiting.insert(address, (Instant::now() + self.timeout, waiting));
        if state.has_thread {
            drop(state);
            return self.shared.changed.notify_one();
        }
        let shared = Arc::clone(&self.shared);
        let started = thread::Builder::new().name("oxcall-watch".to_owned()).spawn(move || shared.watch());
        // Without a thread, the next one that waits tries again.
        state.has_thread = started.is_ok();
    }

    /// Ends the time limit of `waiting`.
    pub(crate) fn forget<W: Waiting>(&self, waiting: &W) {
        self.shared.state.lock().waiting.remove(&std::ptr::from_ref(waiting).addr());
    }

    /// Ends all waits.
    pub(crate) fn interrupt(&self) {
        let all: Vec<_> =
            self.shared.state.lock().waiting.values().filter_map(|(_, waiting)| waiting.upgrade()).collect();
        all.iter().for_each(|waiting| waiting.interrupt());
    }
}

/// The executions of an engine's programs that wait at a collective for processes that have not been started.
#[derive(Clone)]
pub struct Waits(Weak<Watch>);

impl Waits {
    pub(crate) fn new(watch: &Arc<Watch>) -> Waits {
        Waits(Arc::downgrade(watch))
    }

    /// Whether the engine and all of its programs are gone.
    pub fn are_over(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Ends them with CANCELLED. [`interrupt`](fn@crate::interrupt) cannot do this, since it may be called in a signal
    /// handler.
    pub fn interrupt(&self) {
        if let Some(watch) = self.0.upgrade() {
            watch.interrupt();
        }
    }
}

impl Shared {
    fn watch(&self) {
        let mut state = self.state.lock();
        loop {
            let now = Instant::now();
            let mut late = Vec::new();
            state.waiting.retain(|_, (deadline, waiting)| {
                let in_time = *deadline > now;
                late.extend((!in_time).then(|| waiting.upgrade()).flatten());
                in_time
            });
            if !late.is_empty() {
                // A rendezvous registers itself under its own lock, so no thread may take both locks in the other
                // order.
                drop(state);
                late.iter().for_each(|waiting| waiting.give_up());
                drop(late);
                state = self.state.lock();
                continue;
            }
            let next = state.waiting.values().map(|(deadline, _)| deadline.saturating_duration_since(now)).min();
            let timed_out;
            (state, timed_out) = self.changed.wait_timeout(state, next.unwrap_or(IDLE));
            if next.is_none() && timed_out && state.waiting.is_empty() {
                state.has_thread = false;
                return;
            }
        }
    }
}
