//! Time limits for those that wait for calls which nobody may make.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Something that waits for calls.
pub(crate) trait Waiting: Send + Sync {
    /// The time is up.
    fn give_up(&self);

    /// The wait is to end now.
    fn interrupt(&self);
}

/// One thread for all that wait on an engine. It is there while something waits, and a little longer.
pub(crate) struct Watch {
    /// How long each waits.
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
    /// What waits, by its address.
    waiting: HashMap<usize, (Instant, Weak<dyn Waiting>)>,
    has_thread: bool,
}

/// How long the thread stays when nothing waits.
const IDLE: Duration = Duration::from_secs(2);

impl Watch {
    pub(crate) fn new(timeout: Duration) -> Watch {
        Watch { timeout, shared: Arc::default() }
    }

    /// Has `waiting` give up unless it is [forgotten](Watch::forget) in time.
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

    /// It waits no longer.
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

/// The executions of an engine's programs that wait at a collective for processes which nobody has started.
#[derive(Clone)]
pub struct Waits(Weak<Watch>);

impl Waits {
    pub(crate) fn new(watch: &Arc<Watch>) -> Waits {
        Waits(Arc::downgrade(watch))
    }

    /// Whether neither the engine nor a program of it is left.
    pub fn are_over(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Ends them, with CANCELLED. It is what [`interrupt`](fn@crate::interrupt) cannot do, since it may be called in a
    /// signal handler.
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
                // A clique remembers itself under its own lock: so no thread takes both in the other order.
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
