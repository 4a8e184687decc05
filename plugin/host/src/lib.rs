//! The CPU engine: from a verified [`oxcall_hlo::Module`] to a flat plan of kernels over planned buffers.
//!
//! * [`engine`]: what clients use: an [`Engine`] compiles a module to a [`Program`], which is executed.
//! * [`element`]: the Rust types that elements are stored as and computed in.
//! * [`passes`]: from programs as they are written to programs as they are run.
//! * [`kernel`]: what a step of a plan runs, with its operands and results as slices.
//! * [`memory`]: buffers and the caching allocator.
//! * [`pool`]: the threads of a client.
//! * [`math`]: the functions of elements.
//! * [`scalar`]: register programs over single elements.
//! * [`sharding`]: how the parameters and results of programs are split over devices.
//! * [`tile`]: fused element-wise programs.
//!
//! Private: `collective` (what processes compute together), `plan` (graph, liveness, storages, steps), `exec` (executing plans), `environment` (how floating-point arithmetic is set up), `custom_call` (handlers), `observe`
//! (dumps and traces).

mod caches;
mod collective;
mod custom_call;
pub mod element;
pub mod engine;
mod environment;
mod exec;
pub mod kernel;
pub mod kernels;
pub mod math;
pub mod memory;
mod observe;
pub mod passes;
mod plan;
pub mod pool;
pub mod scalar;
pub mod sharding;
mod sync;
#[cfg(test)]
mod tests;
pub mod tile;

pub use collective::ProcessGrid;
pub use custom_call::UserData;
pub use engine::{Engine, EngineOptions, MemoryStats, Process, Program, WeakProgram, room_to_read};
pub use environment::with_default_environment;
pub use exec::{Argument, Era, ExecuteOptions, Launch, current_era, interrupt, lend_thread, on_engine_thread};
pub use memory::{Buffer, CacheLimit, CacheOptions, SystemAllocator};
pub use observe::{Dump, Trace};
pub use plan::Parameter;
