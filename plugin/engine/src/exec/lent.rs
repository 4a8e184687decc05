//! Threads of callers that may resume executions.

use std::cell::Cell;

thread_local! {
    static LENT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`. An execution that waits for a custom call which `work` completes may resume on this thread, instead of
/// moving to another one.
pub fn lend_thread<T>(work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            LENT.set(self.0);
        }
    }
    let _before = Before(LENT.replace(true));
    work()
}

/// Whether this thread is lent at the moment.
pub(super) fn is_lent() -> bool {
    LENT.get()
}
