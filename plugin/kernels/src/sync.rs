//! The synchronisation types. `tests/schedules.rs` compiles the threads that help callers with the types of shuttle
//! in this place.

pub(crate) use std::sync::{Arc, atomic};
pub(crate) use std::thread;
use std::time::{Duration, Instant};

pub(crate) use oxcall::sync::{Condvar, Mutex, MutexGuard};

/// The time for which a thread keeps its processor while it waits: to sleep and wake takes about as long.
pub(crate) const SPIN: Duration = Duration::from_micros(50);

/// Waits until `is_so`, for a short time in which the thread keeps its processor. Whether it is so.
pub(crate) fn spins_until(is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..16 {
            if is_so() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.elapsed() >= SPIN {
            return false;
        }
    }
}
