//! Execution of plans.
//!
//! * `launch`: the thread on which an execution runs.
//! * `task`: executions that stop and go on.
//! * `execution`: the loop over the steps.
//! * `frame`: slots, memory and call frames of one execution.
//! * `argument`: the arguments of an execution.
//! * `gang`: executions that meet at collectives.
//! * `gangs`, `watch`: gangs whose members are launched one by one, and their time limit.
//! * `manual`: manual computations.
//! * `threads`, `lent`: threads for custom calls, which may block; threads of callers on which executions may go on.
//! * `interrupt`: the count of interrupts, such as Ctrl-C.
//! * `traced`: spans of steps.
//! * `evaluate`: ops of constants, for the passes.

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
