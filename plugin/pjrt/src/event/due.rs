//! Whose turn it is: callbacks of a thread that is inside of one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Callback;
use crate::Result;
use crate::sync::thread_local;

/// Callbacks that are due on a thread which is inside one already. They wait for their turn instead of being called
/// from there: a chain of programs, each started by the end of the one before, may be longer than the stack is deep.
type Due = VecDeque<(Callback, Result<()>)>;

thread_local! {
    static DUE: RefCell<Option<Due>> = const { RefCell::new(None) };
}

/// Calls `callbacks`, and those that become due meanwhile; or leaves them to the call of this function that runs
/// already.
pub(super) fn call_back(callbacks: Vec<Callback>, outcome: &Result<()>) {
    let calls = callbacks.into_iter().map(|callback| (callback, outcome.as_ref().map(|&()| ()).map_err(Clone::clone)));
    let mut calls: Due = calls.collect();
    // A thread at its end has no storage left: there is no call to leave them to.
    let first = DUE.try_with(|due| match &mut *due.borrow_mut() {
        Some(due) => {
            due.append(&mut calls);
            false
        }
        none => {
            *none = Some(std::mem::take(&mut calls));
            true
        }
    });
    if matches!(first, Ok(true)) {
        /// Ends the turn of this call, also if a callback panics.
        struct Turn;
        impl Drop for Turn {
            fn drop(&mut self) {
                let _ = DUE.try_with(RefCell::take);
            }
        }
        let _turn = Turn;
        call_due();
    }
    calls.into_iter().for_each(|(callback, outcome)| callback(outcome));
}

/// Calls the due callbacks on this thread. A panic resumes after the last of them.
pub(super) fn call_due() {
    let next = || DUE.try_with(|due| due.borrow_mut().as_mut().and_then(VecDeque::pop_front)).ok().flatten();
    let mut panicked = None;
    while let Some((callback, outcome)) = next() {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| callback(outcome))) {
            panicked.get_or_insert(payload);
        }
    }
    if let Some(payload) = panicked {
        resume_unwind(payload);
    }
}
