//! What the threads for executions are synchronised with. `tests/schedules.rs` compiles them with the types of shuttle in
//! this place.

pub(crate) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};
