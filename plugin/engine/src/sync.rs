//! The synchronisation types. `tests/schedules.rs` compiles the threads for executions with the types of shuttle in
//! this place.

pub(crate) use std::sync::Arc;
pub(crate) use std::thread;

pub(crate) use oxcall::sync::{Condvar, Mutex};
