//! Locks that ignore poisoning, for this workspace's crates.
//!
//! A panic while a lock is held leaves the guarded value whole: each change of it is complete before the next statement
//! that may panic. And the panic is an error of the call that it ended, so that later calls may use the value.

pub use std::sync::MutexGuard;
use std::sync::{LockResult, PoisonError, TryLockError};
use std::time::Duration;

/// A mutual exclusion lock.
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around a value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        unpoisoned(self.0.lock())
    }

    /// The lock, unless another thread holds it now.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value, without the lock.
    #[inline]
    pub fn into_inner(self) -> T {
        unpoisoned(self.0.into_inner())
    }

    /// The value, which nothing else can have locked.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        unpoisoned(self.0.get_mut())
    }
}

/// A condition that holders of a [`Mutex`] wait for.
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

impl Condvar {
    /// A condition that nothing waits for yet.
    pub const fn new() -> Condvar {
        Condvar(std::sync::Condvar::new())
    }

    /// Gives the lock away until a notification, or for no reason.
    pub fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
        unpoisoned(self.0.wait(guard))
    }

    /// Gives the lock away while the condition holds.
    pub fn wait_while<'g, T>(&self, guard: MutexGuard<'g, T>, holds: impl FnMut(&mut T) -> bool) -> MutexGuard<'g, T> {
        unpoisoned(self.0.wait_while(guard, holds))
    }

    /// As [`wait`](Condvar::wait), for no longer than `timeout`; also whether it has timed out.
    pub fn wait_timeout<'g, T>(&self, guard: MutexGuard<'g, T>, timeout: Duration) -> (MutexGuard<'g, T>, bool) {
        let (guard, waited) = unpoisoned(self.0.wait_timeout(guard, timeout));
        (guard, waited.timed_out())
    }

    /// Wakes one that waits.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all that wait.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[inline]
fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
