//! Executing plans.

mod argument;
mod evaluate;
mod execution;
mod frame;
mod launch;
mod traced;

pub use argument::Argument;
pub(crate) use evaluate::evaluate;
pub(crate) use execution::{Execution, Progress};
pub(crate) use frame::{Frame, Frames};
pub use launch::{ExecuteOptions, Launch};
pub(crate) use launch::{launch, panicked};
