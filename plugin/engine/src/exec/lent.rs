//! Threads of others on which executions may go on.

use std::cell::Cell;

thread_local! {
    static LENT: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`; executions that wait for a custom call which it completes may go on right here, rather than on another
/// thread.
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

/// Whether this thread is one of them, now.
pub(super) fn is_lent() -> bool {
    LENT.get()
}
