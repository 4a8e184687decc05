//! The CPU engine: from a verified [`oxcall_hlo::Module`] to a flat plan of kernels over planned buffers.
//!
//! # Modules
//!
//! * [`engine`]: the interface for clients: an [`Engine`] compiles a module to a [`Program`], which is executed.
//! * [`passes`]: from programs as they are written to programs as they are run.
//! * `plan`: from a program to steps: graph, liveness, storages, offsets.
//! * `exec`: executing plans.
//! * `collective`: kernels over the buffers of a whole group of processes.
//! * `custom_call`: handlers: finding and calling them.
//! * [`kernel`], [`kernels`]: the interface of a kernel; the kernels by family.
//! * [`tile`]: fused element-wise programs and reductions of rows.
//! * [`scalar`]: register programs over single elements, for regions and bodies.
//! * [`math`]: the functions of elements, written once and compiled for each level of vector instructions.
//! * [`sharding`]: the split of parameters and results over devices.
//! * [`element`]: the Rust types in which elements are stored and computed.
//! * [`memory`]: buffers, the caching allocator, scratch memory, and the global allocator.
//! * `runtime`: the threads, memory and services that compiling and executing share.
//! * [`pool`], `sync`: the threads of a client, and the costs of work; synchronisation.
//! * `interrupt`: the count of interrupts, such as Ctrl-C.
//! * `environment`: the floating-point environment of all computations.
//! * `caches`: cache sizes for `gemm`, found without starting a program.
//! * `observe`: dumps of programs and plans (`OXCALL_DUMP`), traces of executions (`OXCALL_TRACE`).
//!
//! There are three interpreters, at three grains: tile programs work on tiles of arrays, chains (inside of them) on
//! vector registers, register programs on single elements.
//!
//! # Invariants
//!
//! * Passes get verified programs, and their output would be accepted again; the tests check that.
//! * A kernel's results overlap neither each other nor its operands, unless the kernel said that it may work in place.
//! * Kernels write their results whole: earlier contents of the memory show nowhere.
//! * Executions of a program share nothing that changes but the counter of `rng` and the states of handlers. Each has a
//!   frame of its own; frames are used again, not shared.
//! * Every buffer starts at a multiple of 64 bytes, is initialised (memory of the system is zeroed), dense and
//!   row-major. Elements narrower than a byte take a whole one, sign-extended or with clean upper bits. An array of
//!   another layout is one whose dimensions are in another order, which only the edges of programs (`passes::layouts`)
//!   and transfers know; custom calls have layouts and packed elements of their own (`plan::layout`).
//! * Memory of the size of an array comes from the engine's allocator (`Context::scratch`), which fails with
//!   RESOURCE_EXHAUSTED. `kernels::allocations` searches the source for other ways, and the tests of each kernel let
//!   each of its allocations fail in turn. Crates that allocate by themselves (`gemm`, `faer`, the plans of `rustfft`)
//!   are called, and programs read and compiled, after `memory::room` has found that they can. Each large allocation
//!   leaves 32 MiB for small ones; `SystemAllocator` gives these what caches keep, and a reserve, before it fails.
//!   (Panicking instead is not possible: `handle_alloc_error` aborts on stable Rust, and a global allocator must not
//!   unwind.)
//! * Everything that computes (passes, kernels, the threads of the pool, handlers) does so in the default
//!   floating-point environment, and the caller's is restored afterwards (`environment`). So a constant has the bits
//!   that running would give.

mod caches;
mod collective;
mod custom_call;
pub mod element;
pub mod engine;
mod environment;
mod exec;
mod interrupt;
pub mod kernel;
pub mod kernels;
pub mod math;
pub mod memory;
mod observe;
pub mod passes;
mod plan;
pub mod pool;
mod runtime;
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
pub use exec::{Argument, ExecuteOptions, Launch, current_era, lend_thread, on_engine_thread};
pub use interrupt::{Era, interrupt};
pub use memory::{Buffer, CacheLimit, CacheOptions, SystemAllocator};
pub use observe::{Dump, Trace};
pub use plan::Parameter;
