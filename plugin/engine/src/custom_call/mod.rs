//! Custom calls: functions outside the program, found by the name of their target.
//!
//! A [`CallSite`] is a call in a program: the handler with its attributes and instantiated state, or a legacy function
//! with its opaque bytes. A [`CallState`] belongs to one execution: a call frame that is built once and patched for
//! each call, so that a call costs little more than the handler.
//!
//! `target` finds handlers, `typed` and `legacy` (with `status`) call them, `attributes` and `context` build their call
//! frames, and `host` has the services for them. `pointwise` asks handlers what they compute.
//!
//! Handlers may ask for column-major operands, and see 4-bit integers packed where transfers have a byte for each; the
//! plan converts the buffers (`compile::lower::layout`).

mod attributes;
mod context;
mod host;
mod legacy;
mod pointwise;
mod site;
mod status;
mod target;
mod typed;

pub use context::UserData;
pub(crate) use context::{Contexts, ExecutionInfo};
pub(crate) use host::Host;
pub(crate) use pointwise::{Shapes, expression};
pub(crate) use site::{CallSite, CallState};
