//! Executing plans.

mod argument;
mod evaluate;
mod execution;
mod frame;
mod gang;
mod gangs;
mod interrupt;
mod launch;
mod lent;
mod manual;
mod task;
mod threads;
#[cfg(test)]
mod threads_tests;
mod traced;
mod watch;

pub use argument::Argument;
pub(crate) use evaluate::evaluate;
pub(crate) use execution::{Execution, Progress};
pub(crate) use frame::{Frame, Frames};
pub(crate) use gang::{Gang, Seat};
pub(crate) use gangs::Gangs;
pub use interrupt::{Era, interrupt};
pub use launch::{ExecuteOptions, Launch};
pub(crate) use launch::{abandon, launch, panicked};
pub use lent::lend_thread;
pub(crate) use task::Task;
pub use task::{current_era, on_engine_thread};
pub(crate) use threads::Threads;
pub(crate) use watch::Watch;
