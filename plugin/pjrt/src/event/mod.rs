//! Events: work that is done, failed or still going on.

mod due;
mod join;

use std::fmt;

use due::{call_back, call_due};

use crate::sync::{Arc, Condvar, Mutex};
use crate::{Error, Result};

type Callback = Box<dyn FnOnce(Result<()>) + Send>;

/// Work that completes once, with success or an error. Clones are the same event.
#[derive(Clone)]
pub struct Event(Option<Arc<Shared>>);

/// The completing side of an [`Event`]. Dropping it completes the event with an error.
#[must_use = "dropping it completes the event with an error"]
pub struct Promise(Option<Arc<Shared>>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    completed: Condvar,
}

enum State {
    /// What to call at the end, and the number of threads that wait: a wake-up is a system call.
    Pending(Vec<Callback>, usize),
    Done,
    Failed(Error),
}

impl Default for State {
    fn default() -> State {
        State::Pending(Vec::new(), 0)
    }
}

impl State {
    fn outcome(&self) -> Option<Result<()>> {
        match self {
            State::Pending(..) => None,
            State::Done => Some(Ok(())),
            State::Failed(error) => Some(Err(error.clone())),
        }
    }
}

impl Shared {
    /// The first outcome counts; callbacks run on this thread, without the lock.
    fn complete(&self, outcome: Result<()>) -> bool {
        let mut state = self.state.lock();
        let State::Pending(callbacks, waiting) = &mut *state else { return false };
        let (callbacks, waiting) = (std::mem::take(callbacks), *waiting);
        *state = match &outcome {
            Ok(()) => State::Done,
            Err(error) => State::Failed(error.clone()),
        };
        drop(state);
        if waiting > 0 {
            self.completed.notify_all();
        }
        if !callbacks.is_empty() {
            call_back(callbacks, &outcome);
        }
        true
    }
}

impl Event {
    /// An event that is already done. It costs nothing.
    pub const fn ready() -> Event {
        Event(None)
    }

    /// An event that already failed.
    pub fn failed(error: Error) -> Event {
        let shared = Shared { state: Mutex::new(State::Failed(error)), completed: Condvar::new() };
        Event(Some(Arc::new(shared)))
    }

    /// An event that is already complete.
    pub fn completed(outcome: Result<()>) -> Event {
        outcome.map_or_else(Event::failed, |()| Event::ready())
    }

    /// An event, and what completes it.
    pub fn pending() -> (Promise, Event) {
        let shared = Arc::new(Shared::default());
        (Promise(Some(shared.clone())), Event(Some(shared)))
    }

    /// Whether the work is over, successfully or not.
    pub fn is_ready(&self) -> bool {
        self.0.as_ref().is_none_or(|shared| !matches!(*shared.state.lock(), State::Pending(..)))
    }

    /// How the work ended; `None` while it goes on.
    pub fn outcome(&self) -> Option<Result<()>> {
        self.0.as_ref().map_or(Some(Ok(())), |shared| shared.state.lock().outcome())
    }

    /// Blocks until the work is over. Inside a callback, others that are due on this thread are called first.
    ///
    /// # Errors
    /// The error that the work ended with.
    pub fn wait(&self) -> Result<()> {
        let Some(shared) = &self.0 else { return Ok(()) };
        call_due();
        let mut state = shared.state.lock();
        if let State::Pending(_, waiting) = &mut *state {
            // Never decreased: a thread stops waiting only once the event is complete.
            *waiting += 1;
        }
        loop {
            match state.outcome() {
                Some(outcome) => return outcome,
                None => state = shared.completed.wait(state),
            }
        }
    }

    /// Calls `callback` exactly once with the outcome: now, on this thread, if the work is over, otherwise on the
    /// thread that completes it.
    pub fn on_ready(&self, callback: impl FnOnce(Result<()>) + Send + 'static) {
        let Some(shared) = &self.0 else { return callback(Ok(())) };
        let mut state = shared.state.lock();
        match &mut *state {
            State::Pending(callbacks, _) => callbacks.push(Box::new(callback)),
            done => {
                let outcome = done.outcome().expect("not pending");
                drop(state);
                callback(outcome);
            }
        }
    }

    /// Completes the event from its own side, as `PJRT_Event_Set` does; false if it was complete.
    pub(crate) fn set(&self, outcome: Result<()>) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.complete(outcome))
    }
}

impl Promise {
    /// Completes the event. Callbacks run on this thread before it returns (inside of a callback: soon after), also
    /// those of the client and copies to the host: so no lock that a method of a buffer needs may be held.
    pub fn complete(mut self, outcome: Result<()>) {
        if let Some(shared) = self.0.take() {
            shared.complete(outcome);
        }
    }

    /// Leaves the completion to a call of [`Event::set`].
    pub(crate) fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.complete(Err(Error::internal("the work ended without completing its event")));
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.outcome()).finish()
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}
