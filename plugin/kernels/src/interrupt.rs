//! Interrupts of executions, such as those by Ctrl-C.

use std::sync::atomic::{AtomicU64, Ordering};

use oxcall::Error;

/// The number of interrupts so far.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);

/// Ends all executions of this process that were requested before: they fail with CANCELLED at their next step, or at
/// the next iteration of a loop. Later ones are unaffected. A signal handler may call it: it only increments an atomic
/// counter.
pub fn interrupt() {
    INTERRUPTS.fetch_add(1, Ordering::Relaxed);
}

/// The time between two interrupts, to which an execution belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Era(u64);

impl Era {
    /// The current era.
    #[inline]
    pub fn now() -> Era {
        Era(INTERRUPTS.load(Ordering::Relaxed))
    }

    /// Whether there has been an interrupt since. Once a thread has seen true, it always does.
    #[inline]
    pub fn is_over(self) -> bool {
        INTERRUPTS.load(Ordering::Relaxed) != self.0
    }
}

/// The error of an interrupted execution.
#[cold]
pub fn interrupted(what: impl std::fmt::Display) -> Error {
    Error::cancelled(format!("{what} was interrupted"))
}
