//! The CPU engine: from a verified [`oxcall_hlo::Module`] to a flat plan of kernels over planned buffers.
//!
//! # Modules
//!
//! Each uses those below it, and none above; only the items that this file re-exports are public.
//!
//! * `engine`: the interface for clients: an [`Engine`] compiles a module to a [`Program`], which it then executes.
//! * `exec`: execution of plans, and the rendezvous of a program's participants.
//! * `compile`: from a module to a plan: partitioning, passes, fusion, lowering, buffer assignment.
//! * `runtime`: the threads, memory and services that compilation and execution share.
//! * `observe`: dumps of programs, plans and machine code (`OXCALL_DUMP`), names of machine code for `perf`
//!   (`OXCALL_PERF_MAP`), traces of executions (`OXCALL_TRACE`).
//! * `plan`: the steps, and the table of allocations that they work on.
//! * `collective`: kernels over the buffers of a whole group of processes.
//! * `custom_call`: the lookup of handlers, and their calls.
//! * `sync`: synchronisation.
//!
//! The kernels, and the threads, memory and functions of elements that they stand on, are the crate [`oxcall_kernels`].
//!
//! # Invariants
//!
//! Those of [`oxcall_kernels`] hold, and:
//!
//! * Passes get verified programs, and their output is valid again; `compile::passes` verifies it in debug builds and
//!   while programs are dumped.
//! * Executions of a program share no mutable state except the counter of `rng` and the states of handlers. Each has
//!   its own frame; frames are reused, not shared.
//! * An array of another layout than row-major is one whose dimensions are in another order; only the edges of programs
//!   (`compile::passes::layouts`) and transfers know of it. Custom calls have their own layouts and packed elements
//!   (`compile::lower::layout`).
//! * Before programs are read and compiled, `memory::room` checks that there is enough memory.
//! * All computations (passes, kernels, the threads of the pool, handlers) run in the default floating-point
//!   environment, and the caller's is restored afterwards (`environment`). So a folded constant has the bits that
//!   execution would give.
//!
//! # Unsafe code
//!
//! Only these modules have any:
//!
//! * `custom_call` calls C functions with call frames.
//! * `compile::evaluate` runs kernels on separate buffers, to fold constants.
//! * `exec` gives steps, and the machine code of loops, the buffers that the plan assigns to them.
//! * Tests register handlers written as C functions, and run kernels on separate buffers.

#![deny(unsafe_code)]

mod collective;
mod compile;
#[allow(unsafe_code, reason = "calls C functions with call frames")]
mod custom_call;
mod engine;
#[allow(unsafe_code, reason = "gives steps the buffers that the plan says they may use")]
mod exec;
mod observe;
mod plan;
mod runtime;
mod sync;
#[cfg(test)]
#[allow(dead_code, reason = "has what tests of kernels need, too")]
#[allow(unsafe_code, reason = "runs kernels on buffers of its own")]
#[path = "../../kernels/src/kernels/testing.rs"]
mod testing;
#[cfg(test)]
#[allow(unsafe_code, reason = "register handlers of C")]
mod tests;

pub use collective::ProcessGrid;
pub use compile::partition::{Placement, ShardedArray, ShardingOptions, Shardings};
pub use compile::passes::IoSpec;
pub use custom_call::UserData;
pub use engine::{Engine, EngineOptions, MemoryStats, PartitionedProgram, Process, Program, WeakProgram, room_to_read};
pub use exec::{Argument, ExecuteOptions, Launch, current_era, lend_thread, on_engine_thread};
pub use observe::{Dump, Trace};
pub use oxcall_kernels::environment::with_default_environment;
pub use oxcall_kernels::interrupt::{Era, interrupt};
pub use oxcall_kernels::memory::{Allocator, Buffer, CacheLimit, CacheOptions, MemoryUse, SystemAllocator};
pub use oxcall_kernels::pool::Cost;
pub use plan::Parameter;
pub use runtime::Waits;
