//! Limits of time for gangs that wait for members which nobody has started.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::gang::Gang;

/// One thread for all gangs of an engine. It is there while some gang waits, and a little longer.
pub(crate) struct Watch {
    /// How long those that are there wait for the others.
    pub(super) timeout: Duration,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Gangs that wait, by their addresses.
    gangs: HashMap<usize, (Instant, Weak<Gang>)>,
    has_thread: bool,
}

/// How long the thread stays when no gang waits.
const IDLE: Duration = Duration::from_secs(2);

impl Watch {
    pub(crate) fn new(timeout: Duration) -> Watch {
        Watch { timeout, shared: Arc::default() }
    }

    /// Fails the gang unless it is [forgotten](Watch::forget) in time.
    pub(super) fn remember(&self, gang: &Arc<Gang>) {
        let mut state = self.shared.lock();
        state.gangs.insert(Arc::as_ptr(gang).addr(), (Instant::now() + self.timeout, Arc::downgrade(gang)));
        if state.has_thread {
            drop(state);
            return self.shared.changed.notify_one();
        }
        let shared = Arc::clone(&self.shared);
        let started = thread::Builder::new().name("oxcall-watch".to_owned()).spawn(move || shared.watch());
        // Without a thread, the next gang tries again.
        state.has_thread = started.is_ok();
    }

    /// All members of the gang have come, or it has failed.
    pub(super) fn forget(&self, gang: &Gang) {
        self.shared.lock().gangs.remove(&std::ptr::from_ref(gang).addr());
    }

    /// Fails all gangs that wait.
    pub(crate) fn interrupt(&self) {
        let waiting: Vec<_> = self.shared.lock().gangs.values().filter_map(|(_, gang)| gang.upgrade()).collect();
        waiting.iter().for_each(|gang| gang.interrupt());
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let mut late = Vec::new();
            state.gangs.retain(|_, (deadline, gang)| {
                let in_time = *deadline > now;
                late.extend((!in_time).then(|| gang.upgrade()).flatten());
                in_time
            });
            if !late.is_empty() {
                // A gang has its lock while it is remembered: so nobody has both in the other order.
                drop(state);
                late.iter().for_each(|gang| gang.give_up());
                drop(late);
                state = self.lock();
                continue;
            }
            let next = state.gangs.values().map(|(deadline, _)| deadline.saturating_duration_since(now)).min();
            let waited = self.changed.wait_timeout(state, next.unwrap_or(IDLE));
            let (after, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = after;
            if next.is_none() && timeout.timed_out() && state.gangs.is_empty() {
                state.has_thread = false;
                return;
            }
        }
    }
}
