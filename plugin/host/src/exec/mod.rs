//! Executing plans.

mod argument;
mod execution;
mod frame;
mod launch;

pub use argument::Argument;
pub(crate) use execution::{Execution, Progress};
pub(crate) use frame::{Frame, Frames};
pub use launch::{ExecuteOptions, Launch};
pub(crate) use launch::{launch, panicked};
