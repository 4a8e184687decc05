//! Synchronisation of threads under shuttle, and the orders in which they run. The tests of the engine compile this
//! file, too.

use std::time::Duration;

pub(crate) use shuttle::sync::{Arc, MutexGuard, atomic};
pub(crate) use shuttle::thread;
use shuttle::{check_pct, check_random, sync};

/// Looks a few times, since other threads run only when this one gives way to them.
pub(crate) fn spins_until(is_so: impl Fn() -> bool) -> bool {
    (0..2).any(|_| {
        thread::yield_now();
        is_so()
    })
}

#[derive(Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }
}

#[derive(Default)]
pub(crate) struct Condvar(sync::Condvar);

impl Condvar {
    pub(crate) fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        self.0.wait(guard).unwrap()
    }

    pub(crate) fn wait_timeout<'g, T>(&self, guard: MutexGuard<'g, T>, time: Duration) -> (MutexGuard<'g, T>, bool) {
        let (guard, waited) = self.0.wait_timeout(guard, time).unwrap();
        (guard, waited.timed_out())
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Runs `test` in orders that are random, and in such that find bugs which need few switches at certain places.
pub(crate) fn in_many_orders(test: impl Fn() + Send + Sync + Copy + 'static) {
    check_random(test, 1_000);
    check_pct(test, 500, 3);
}
