//! Locks that panics do not poison: what they guard is whole between any two statements that may panic.

use std::sync::{LockResult, MutexGuard, PoisonError};
use std::time::Duration;

/// A mutual exclusion lock.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around a value.
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        unpoisoned(self.0.lock())
    }

    /// The value, which nothing else can have locked.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut T {
        unpoisoned(self.0.get_mut())
    }
}

/// A condition that holders of a [`Mutex`] wait for.
#[derive(Debug, Default)]
pub(crate) struct Condvar(std::sync::Condvar);

impl Condvar {
    /// A condition that nothing waits for yet.
    pub(crate) const fn new() -> Condvar {
        Condvar(std::sync::Condvar::new())
    }

    /// Gives the lock away until a notification, or for no reason.
    pub(crate) fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        unpoisoned(self.0.wait(guard))
    }

    /// Gives the lock away while the condition holds.
    pub(crate) fn wait_while<'g, T>(
        &self,
        guard: MutexGuard<'g, T>,
        holds: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'g, T> {
        unpoisoned(self.0.wait_while(guard, holds))
    }

    /// As [`wait`](Condvar::wait), for no longer than `timeout`.
    pub(crate) fn wait_timeout<'g, T>(&self, guard: MutexGuard<'g, T>, timeout: Duration) -> MutexGuard<'g, T> {
        unpoisoned(self.0.wait_timeout(guard, timeout)).0
    }

    /// Wakes one that waits.
    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all that wait.
    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[inline]
fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
