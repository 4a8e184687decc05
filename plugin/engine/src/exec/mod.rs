//! Execution of plans.
//!
//! * `launch`: the thread on which an execution runs.
//! * `task`: executions that stop and go on.
//! * `executable`: a plan with what its executions share and keep.
//! * `execution`: the loop over the steps.
//! * `frame`: slots, memory and call frames of one execution.
//! * `argument`: the arguments of an execution.
//! * `rendezvous`: executions that meet at collectives; `launches`: those whose participants come one by one.
//! * `cliques`: cliques whose participants are launched one by one.
//! * `manual`: manual computations.
//! * `lent`: threads of callers on which executions may go on.
//! * `traced`: spans of steps.
//! * `evaluate`: ops of constants, for the passes.

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
