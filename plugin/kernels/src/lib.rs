//! The kernels of the CPU engine, and what they stand on: threads, memory, functions of elements, machine code.
//!
//! # Modules
//!
//! Each uses those below it, and none above. Public is only what the engine uses.
//!
//! * `single`: the kernel of an op that runs alone.
//! * `tile`: tile programs: fused element-wise ops and reductions of rows.
//! * `kernels`: the other kernels, by family.
//! * `scalar`: register programs over single elements, for regions and bodies.
//! * `kernel`: the interface of all kernels.
//! * `machine`: steps of loops as machine code.
//! * `math`: functions of elements, written once and compiled for each level of vector instructions (`oxcall-math`).
//! * `element`: the Rust types in which elements are stored and computed.
//! * `pool`: the threads of a client, and the costs of work.
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
//! * A kernel's results overlap neither each other nor its operands, unless the kernel declared that it may work in
//!   place.
//! * Kernels write their results whole: earlier contents of the memory are never visible.
//! * Every buffer starts at a multiple of 64 bytes, is initialised (memory of the system is zeroed), dense and
//!   row-major. Elements narrower than a byte take a whole byte, sign-extended or with clean upper bits.
//! * Memory of the size of an array comes from the engine's allocator (`Context::scratch`), which fails with
//!   RESOURCE_EXHAUSTED. `kernels::allocations` searches the source for other allocations, and the tests of each kernel
//!   make each of its allocations fail in turn. Before calls of crates that allocate by themselves (`gemm`, `faer`, the
//!   plans of `rustfft`), `memory::room` checks that there is enough. Each large allocation leaves 32 MiB for small
//!   ones; `SystemAllocator` gives these the memory that caches keep, and a reserve, before it fails. (Panicking
//!   instead is not possible: `handle_alloc_error` aborts on stable Rust, and a global allocator must not unwind.)
//! * All threads of the pool compute in the default floating-point environment (`environment`).
//!
//! # Unsafe code
//!
//! Only these modules have any:
//!
//! * `caches` asks the processor for its caches, and makes `gemm` look for them.
//! * `environment` reads and writes the floating-point control register.
//! * `kernel` makes slices from buffers.
//! * `kernels::dot::matmul` calls `gemm`, which takes pointers.
//! * `kernels::movement::stream` stores past the caches.
//! * `kernels::sort::partition` writes to places of one slice on several threads.
//! * `machine::calls` gives machine code the functions and small kernels that it calls.
//! * `math::function` makes values of stateless functions.
//! * `memory` allocates.
//! * `pool::helpers` lends the work of callers to threads, and `pool::placement` asks the system for their processors.
//! * `tile::memory`, `tile::chain`, `tile::run` (which calls generated code) and `tile::program` read and write
//!   registers and operands, which are bytes of several types, on several threads.
//! * Tests run kernels on separate buffers.

#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "asks the processor for its caches, and makes `gemm` look")]
pub mod caches;
pub mod element;
#[allow(unsafe_code, reason = "reads and writes the floating-point control register")]
pub mod environment;
pub mod interrupt;
#[allow(unsafe_code, reason = "makes slices of buffers")]
pub mod kernel;
pub mod kernels;
pub mod machine;
pub mod math;
#[allow(unsafe_code, reason = "allocates")]
pub mod memory;
pub mod pool;
pub mod scalar;
mod single;
mod sync;
pub mod tile;

pub use single::single;

// Files of tests, which the engine's tests compile too, have one name for this crate.
#[cfg(test)]
extern crate self as oxcall_kernels;
