//! Plans: flat lists of steps over a table of slots, each the place of one buffer. XLA's CPU runtime calls a step a
//! thunk, and the table the buffer allocations.
//!
//! * `step`: the steps, the slots and the [`Plan`], which owns the plans of its manual computations.
//! * `allocation`: where each slot points when an execution begins.
//! * `parameter`: the parameters as callers see them, and the buffers that values consist of.
//! * `loops`: the machine code of loops; `code`: all machine code, with names; `runs`: steps that threads share.
//! * `manual`: manual computations: the shards that their participants get.
//! * `display`: plans as text.
//!
//! [`compile`](crate::compile) makes plans, [`exec`](crate::exec) runs them.

mod allocation;
mod code;
mod display;
mod loops;
mod manual;
mod parameter;
mod runs;
mod step;

pub(crate) use oxcall_kernels::machine::Slot;

pub(crate) use crate::custom_call::CallSite;
pub(crate) use allocation::{Allocation, ProcessId};
pub(crate) use code::Code;
pub(crate) use loops::Loops;
pub(crate) use manual::{ManualSite, Shard, Shards, Whole};
pub use parameter::Parameter;
pub(crate) use parameter::{byte_size, leaves};
pub(crate) use runs::{Run, Runs};
pub(crate) use step::{Args, CollectiveSite, Plan, Step};
