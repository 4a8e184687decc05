//! Several events as one.

use std::borrow::Borrow;

use super::{Event, Promise};
use crate::sync::{Arc, Mutex};
use crate::{Error, Result};

impl Event {
    /// An event that completes when all of `events` have, with the error of the first in the list that failed.
    pub fn all(events: impl IntoIterator<Item = impl Borrow<Event>>) -> Event {
        let mut join = Join { left: 0, failed: None, promise: None };
        let mut open = Vec::new();
        for (index, event) in events.into_iter().enumerate() {
            let event = event.borrow();
            match event.outcome() {
                Some(outcome) => join.note(index, outcome),
                None => open.push((index, event.clone())),
            }
        }
        if open.is_empty() {
            return Event::completed(join.outcome());
        }
        let (promise, all) = Event::pending();
        (join.left, join.promise) = (open.len(), Some(promise));
        let join = Arc::new(Mutex::new(join));
        for (index, event) in open {
            let join = join.clone();
            event.on_ready(move |outcome| Join::arrive(&join, index, outcome));
        }
        all
    }
}

/// Several events on their way to be one.
struct Join {
    left: usize,
    /// The first error in the order of the list.
    failed: Option<(usize, Error)>,
    promise: Option<Promise>,
}

impl Join {
    fn note(&mut self, index: usize, outcome: Result<()>) {
        if let Err(error) = outcome
            && self.failed.as_ref().is_none_or(|(first, _)| index < *first)
        {
            self.failed = Some((index, error));
        }
    }

    fn outcome(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), |(_, error)| Err(error))
    }

    fn arrive(join: &Mutex<Join>, index: usize, outcome: Result<()>) {
        let mut this = join.lock();
        this.note(index, outcome);
        this.left -= 1;
        if this.left == 0 {
            let (promise, outcome) = (this.promise.take(), this.outcome());
            drop(this);
            promise.expect("only the last one takes it").complete(outcome);
        }
    }
}
