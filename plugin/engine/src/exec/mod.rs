//! Execution of plans.
//!
//! * `launch`: the choice of the thread on which an execution runs.
//! * `task`: executions that stop and resume.
//! * `executable`: a plan, with the data that its executions share and reuse.
//! * `execution`: the loop over the steps.
//! * `frame`: slots, memory and call frames of one execution.
//! * `argument`: the arguments of an execution.
//! * `rendezvous`: executions that meet at collectives.
//! * `launches`: rendezvous whose participants are launched by separate calls.
//! * `manual`: manual computations.
//! * `lent`: threads of callers that may resume executions.
//! * `traced`: spans of steps.

mod argument;
mod executable;
mod execution;
mod frame;
mod launch;
mod launches;
mod lent;
mod manual;
mod rendezvous;
mod task;
mod traced;

pub use argument::Argument;
pub(crate) use executable::Executable;
pub(crate) use execution::{Execution, Progress};
pub(crate) use frame::{Frame, Frames};
pub use launch::{ExecuteOptions, Launch};
pub(crate) use launch::{abandon, launch, panicked};
pub use lent::lend_thread;
pub(crate) use rendezvous::Participant;
pub(crate) use task::Task;
pub use task::{current_era, on_engine_thread};
