//! The synchronisation types. `tests/schedules.rs` compiles events with the types of shuttle in this place.

pub(crate) use std::sync::Arc;
pub(crate) use std::thread_local;

pub(crate) use oxcall::sync::{Condvar, Mutex, MutexGuard};
