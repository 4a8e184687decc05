//! Results of an execution: there when its launch returns, or later.

use std::sync::Arc;

use oxcall::sync::Mutex;
use oxcall_engine::Buffer;
use oxcall_pjrt::{Event, Promise, Result};

use crate::arrays::contents::Filler;

/// The results of an execution, which its end leaves and its launch takes. Where the end comes first, nobody has to
/// wait for anything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Results(Arc<Mutex<State>>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Running,
    /// It has not ended, and these wait.
    Awaited(Vec<Filler>, Promise),
    /// It ended before anything waited.
    Ended(Result<Vec<Buffer>>),
}

impl Results {
    /// Ends the execution. If nobody does, what waits gets an error.
    pub(crate) fn end(self, outcome: Result<Vec<Buffer>>) {
        let mut state = self.0.lock();
        match std::mem::take(&mut *state) {
            State::Awaited(fillers, promise) => {
                drop(state);
                promise.complete(fill(fillers, outcome));
            }
            State::Running | State::Ended(_) => *state = State::Ended(outcome),
        }
    }

    /// The results, if the execution has ended.
    pub(crate) fn now(&self) -> Option<Result<Vec<Buffer>>> {
        let mut state = self.0.lock();
        match std::mem::take(&mut *state) {
            State::Ended(outcome) => Some(outcome),
            running => {
                *state = running;
                None
            }
        }
    }

    /// Lets `fillers` wait for the results. The event completes after them.
    pub(crate) fn fill_in(self, fillers: Vec<Filler>) -> Event {
        let mut state = self.0.lock();
        match std::mem::take(&mut *state) {
            State::Ended(outcome) => {
                drop(state);
                Event::completed(fill(fillers, outcome))
            }
            State::Running | State::Awaited(..) => {
                let (promise, done) = Event::pending();
                *state = State::Awaited(fillers, promise);
                done
            }
        }
    }
}

/// Hands the results, or copies of the error, to the buffers that wait for them.
fn fill(fillers: Vec<Filler>, outcome: Result<Vec<Buffer>>) -> Result<()> {
    match outcome {
        // Sizes, which come last, are there before what they are the sizes of.
        Ok(buffers) => fillers.into_iter().zip(buffers).rev().for_each(|(filler, buffer)| filler.fill(Ok(buffer))),
        Err(error) => {
            fillers.into_iter().for_each(|filler| filler.fill(Err(error.clone())));
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxcall_pjrt::{Code, Error};

    use super::*;
    use crate::arrays::contents::Contents;

    #[test]
    fn an_end_before_the_launch_returns_needs_no_filler() {
        let results = Results::default();
        assert!(results.now().is_none());
        results.clone().end(Ok(vec![Buffer::empty()]));
        assert_eq!(results.now().unwrap().unwrap().len(), 1);
    }

    #[test]
    fn an_end_between_two_looks_fills_in_at_once() {
        let results = Results::default();
        assert!(results.now().is_none());
        results.clone().end(Ok(vec![Buffer::empty()]));
        let (filler, contents) = Contents::pending();
        assert!(results.fill_in(vec![filler]).is_ready());
        assert!(contents.event().is_ready() && contents.get().is_ok());
    }

    #[test]
    fn a_later_end_fills_in_results_or_errors() {
        for outcome in [Ok(vec![Buffer::empty()]), Err(Error::aborted("stopped"))] {
            let (results, (filler, contents)) = (Results::default(), Contents::pending());
            let done = results.clone().fill_in(vec![filler]);
            assert!(!done.is_ready() && !contents.event().is_ready());
            let code = outcome.as_ref().err().map(Error::code);
            results.end(outcome);
            assert_eq!(done.wait().err().map(|error| error.code()), code);
            assert_eq!(contents.event().wait().err().map(|error| error.code()), code);
        }
    }

    #[test]
    fn an_execution_that_never_ends_is_an_error() {
        let (results, (filler, contents)) = (Results::default(), Contents::pending());
        let launch = results.clone();
        let done = launch.fill_in(vec![filler]);
        drop(results);
        assert_eq!(done.wait().unwrap_err().code(), Code::Internal);
        assert_eq!(contents.event().wait().unwrap_err().code(), Code::Internal);
    }
}
