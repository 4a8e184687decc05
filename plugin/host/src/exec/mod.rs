//! Executing plans.

mod argument;
mod evaluate;
mod execution;
mod frame;
mod gang;
mod gangs;
mod launch;
mod lent;
mod manual;
mod task;
mod traced;

pub use argument::Argument;
pub(crate) use evaluate::evaluate;
pub(crate) use execution::{Execution, Progress};
pub(crate) use frame::{Frame, Frames};
pub(crate) use gang::{Gang, Seat};
pub(crate) use gangs::Gangs;
pub use launch::{ExecuteOptions, Launch};
pub(crate) use launch::{abandon, launch, panicked};
pub use lent::lend_thread;
pub(crate) use task::Task;
