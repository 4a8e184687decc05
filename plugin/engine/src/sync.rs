//! The synchronisation types of the threads for executions. `tests/schedules.rs` compiles them with the types of
//! shuttle in this place.

pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
pub(crate) use std::thread;
