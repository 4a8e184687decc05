//! From a program to a plan: a flat list of steps over a table of slots, each the place of one buffer.
//!
//! 1. [`lower`] turns the IR into a [`graph`] of nodes and values. Reshapes and the like vanish, and ops that one
//!    kernel computes together are one node.
//! 2. [`liveness`] finds the last use of each value.
//! 3. [`place`] gives each value a storage: that of an operand if the kernel may work in place, that of a donated
//!    argument, or a new one; and writes the steps. The results of a branch are in the storage of what it was given
//!    where [`origin`] finds that.
//! 4. [`arena`] gives each storage a home: a part of one arena, or, for results, an allocation of its own.
//!
//! Beside these: `view` (ops that need no kernel), `order` (the order of ops), `layout` (layouts and packing of custom
//! calls), `single` (kernels of ops alone), `register` (loops of scalars), `manual` (manual computations as programs of
//! their own), `constants` and `fill`, `step` (the steps), `display` (plans as text).

mod arena;
mod build;
mod constants;
mod display;
mod fill;
mod graph;
mod layout;
mod liveness;
mod lower;
mod manual;
mod order;
mod origin;
mod place;
mod register;
mod single;
mod step;
mod storage;
mod types;
mod view;

pub(crate) use crate::custom_call::CallSite;
pub(crate) use build::build;
pub(crate) use constants::materialise;
pub(crate) use manual::{ManualSite, Shard};
pub(crate) use single::single;
pub(crate) use step::{Args, Home, MeetingSite, Plan, ProcessId, Slot, Step};
pub use types::Parameter;
pub(crate) use view::is_view;
