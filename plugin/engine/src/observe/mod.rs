//! Dumps of programs after each pass, and traces of executions. Both are off by default.

mod dump;
mod trace;

pub use dump::Dump;
pub use trace::Trace;
pub(crate) use trace::{Span, shapes};
