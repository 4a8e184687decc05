//! Dumps of programs, names of machine code, and traces of executions. All are off by default.
//!
//! * `dump`: programs after each pass, and plans; `object_file`: their machine code.
//! * `perf_map`: names of machine code for `perf`.
//! * `trace`: executions.

mod dump;
mod object_file;
mod perf_map;
mod trace;

pub use dump::Dump;
pub(crate) use perf_map::PerfMap;
pub use trace::Trace;
pub(crate) use trace::{Span, shapes};
