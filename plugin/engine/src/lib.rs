//! The CPU engine: from a verified [`oxcall_hlo::Module`] to a flat plan of kernels over planned buffers.
//!
//! # Modules
//!
//! Each module uses only those below it; only the items that this file re-exports are public.
//!
//! * `engine`: the interface for clients: an [`Engine`] compiles a module to a [`Program`], which it then executes.
//! * `exec`: execution of plans, and the rendezvous of a program's participants.
//! * `compile`: from a module to a plan: partitioning, passes, fusion, lowering, buffer assignment.
//! * `plan`: the steps, and the table of allocations that they work on.
//! * `collective`: kernels over the buffers of a whole group of processes.
//! * `tile`: tile programs: fused element-wise ops and reductions of rows.
//! * `kernels`: the other kernels, by family.
//! * `scalar`: register programs over single elements, for regions and bodies.
//! * `kernel`: the interface of all kernels.
//! * `runtime`: the threads, memory and services that compilation and execution share.
//! * `custom_call`: the lookup of handlers, and their calls.
//! * `observe`: dumps of programs, plans and machine code (`OXCALL_DUMP`), names of machine code for `perf`
//!   (`OXCALL_PERF_MAP`), traces of executions (`OXCALL_TRACE`).
//! * `pool`: the threads of a client, and the costs of work.
//! * `math`: functions of elements, written once and compiled for each level of vector instructions (`oxcall-math`).
//! * `machine`: steps of loops as machine code.
//! * `element`: the Rust types in which elements are stored and computed.
//! * `interrupt`: the count of interrupts, such as Ctrl-C.
//! * `memory`: buffers, the caching allocator, scratch memory, and the global allocator.
//! * `caches`: cache sizes for `gemm`, found without starting a program.
//! * `environment`: the floating-point environment of all computations.
//! * `sync`: synchronisation.
//!
//! There are three interpreters, at three granularities: tile programs work on tiles of arrays, chains (inside tile
//! programs) on vector registers, and register programs on single elements. On processors with AVX2, machine code that
//! `oxcall-jit` generates takes the place of chains, and of the steps of loops over small arrays (`machine`).
//!
//! # Invariants
//!
//! * Passes get verified programs, and their output is valid again; `compile::passes` verifies it in debug builds and
//!   while programs are dumped.
//! * A kernel's results overlap neither each other nor its operands, unless the kernel declared that it may work in
//!   place.
//! * Kernels write their results whole: earlier contents of the memory are never visible.
//! * Executions of a program share no mutable state except the counter of `rng` and the states of handlers. Each has
//!   its own frame; frames are reused, not shared.
//! * Every buffer starts at a multiple of 64 bytes, is initialised (memory of the system is zeroed), dense and
//!   row-major. Elements narrower than a byte take a whole byte, sign-extended or with clean upper bits. An array of
//!   another layout is one whose dimensions are in another order; only the edges of programs
//!   (`compile::passes::layouts`) and transfers know of it. Custom calls have their own layouts and packed elements
//!   (`compile::lower::layout`).
//! * Memory of the size of an array comes from the engine's allocator (`Context::scratch`), which fails with
//!   RESOURCE_EXHAUSTED. `kernels::allocations` searches the source for other allocations, and the tests of each kernel
//!   make each of its allocations fail in turn. Before calls of crates that allocate by themselves (`gemm`, `faer`, the
//!   plans of `rustfft`), and before programs are read and compiled, `memory::room` checks that there is enough. Each
//!   large allocation leaves 32 MiB for small ones; `SystemAllocator` gives these the memory that caches keep, and a
//!   reserve, before it fails. (Panicking instead is not possible: `handle_alloc_error` aborts on stable Rust, and a
//!   global allocator must not unwind.)
//! * All computations (passes, kernels, the threads of the pool, handlers) run in the default floating-point
//!   environment, and the caller's is restored afterwards (`environment`). So a folded constant has the bits that
//!   execution would give.
//! # Unsafe code
//!
//! Only these modules have any:
//!
//! * `caches` asks the processor for its caches, and makes `gemm` look for them.
//! * `custom_call` calls C functions with call frames.
//! * `environment` reads and writes the floating-point control register.
//! * `compile::evaluate` runs kernels on separate buffers, to fold constants.
//! * `exec` gives steps, and the machine code of loops, the buffers that the plan assigns to them.
//! * `kernel` makes slices from buffers.
//! * `kernels::dot::matmul` calls `gemm`, which takes pointers.
//! * `kernels::movement::stream` stores past the caches.
//! * `machine::calls` gives machine code the functions and small kernels that it calls.
//! * `math::function` makes values of stateless functions.
//! * `memory` allocates.
//! * `pool::helpers` lends the work of callers to threads, and `pool::placement` asks the system for their processors.
//! * `tile::memory`, `tile::chain`, `tile::run` (which calls generated code) and `tile::program` read and write
//!   registers and operands, which are bytes of several types, on several threads.
//! * Tests register handlers written as C functions, and run kernels on separate buffers.

#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "asks the processor for its caches, and makes `gemm` look")]
mod caches;
mod collective;
mod compile;
#[allow(unsafe_code, reason = "calls C functions with call frames")]
mod custom_call;
mod element;
mod engine;
#[allow(unsafe_code, reason = "reads and writes the floating-point control register")]
mod environment;
#[allow(unsafe_code, reason = "gives steps the buffers that the plan says they may use")]
mod exec;
mod interrupt;
#[allow(unsafe_code, reason = "makes slices of buffers")]
mod kernel;
mod kernels;
mod machine;
mod math;
#[allow(unsafe_code, reason = "allocates")]
mod memory;
mod observe;
mod plan;
mod pool;
mod runtime;
mod scalar;
mod sync;
#[cfg(test)]
#[allow(unsafe_code, reason = "register handlers of C")]
mod tests;
mod tile;

pub use collective::ProcessGrid;
pub use compile::partition::{Placement, ShardedArray, ShardingOptions, Shardings};
pub use compile::passes::IoSpec;
pub use custom_call::UserData;
pub use engine::{Engine, EngineOptions, MemoryStats, PartitionedProgram, Process, Program, WeakProgram, room_to_read};
pub use environment::with_default_environment;
pub use exec::{Argument, ExecuteOptions, Launch, current_era, lend_thread, on_engine_thread};
pub use interrupt::{Era, interrupt};
pub use memory::{Allocator, Buffer, CacheLimit, CacheOptions, MemoryUse, SystemAllocator};
pub use observe::{Dump, Trace};
pub use plan::Parameter;
pub use pool::Cost;
pub use runtime::Waits;
