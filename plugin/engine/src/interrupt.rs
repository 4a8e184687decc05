//! Interrupting executions: what a signal such as Ctrl-C does to those that run.

use std::sync::atomic::{AtomicU64, Ordering};

use oxcall::Error;

/// How many interrupts there were.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);

/// Ends all executions of this process that were asked for before: they fail with CANCELLED at their next step, or the
/// next iteration of a loop. Later ones are not concerned. It may be called in a signal handler: it adds one to a
/// number.
pub fn interrupt() {
    INTERRUPTS.fetch_add(1, Ordering::Relaxed);
}

/// The time between two interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Era(u64);

impl Era {
    /// This one.
    pub fn now() -> Era {
        Era(INTERRUPTS.load(Ordering::Relaxed))
    }

    /// Whether there was an interrupt since. Once it is so, it stays so on every thread that has seen it.
    #[inline]
    pub fn is_over(self) -> bool {
        INTERRUPTS.load(Ordering::Relaxed) != self.0
    }
}

/// The error of what is interrupted.
#[cold]
pub(crate) fn interrupted(what: impl std::fmt::Display) -> Error {
    Error::cancelled(format!("{what} was interrupted"))
}
