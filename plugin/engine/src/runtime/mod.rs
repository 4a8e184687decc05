//! The runtime: the threads, memory and services that compilation and execution share.
//!
//! * `threads`: threads for work that may block.
//! * `watch`: time limits for work that waits for callers.

mod threads;
#[cfg(test)]
mod threads_tests;
mod watch;

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use oxcall_jit::Isa;
use oxcall_kernels::memory::{Allocator, CacheOptions};
use oxcall_kernels::pool::Pool;

use crate::custom_call::Host;
use crate::observe::{PerfMap, Trace};

pub(crate) use threads::{Job, Threads};
pub use watch::Waits;
pub(crate) use watch::{Waiting, Watch};

/// Options of a runtime: see [`EngineOptions`](crate::EngineOptions).
pub(crate) struct RuntimeOptions {
    pub(crate) platform: String,
    pub(crate) num_threads: usize,
    pub(crate) trace: Option<Arc<Trace>>,
    pub(crate) collective_timeout: Duration,
    pub(crate) cache: CacheOptions,
    /// The instructions of machine code; `None` for none.
    pub(crate) isa: Option<Isa>,
    /// Whether machine code has a label for each operation.
    pub(crate) listed: bool,
    pub(crate) perf_map: Option<PerfMap>,
    /// Whether calls of pointwise functions become parts of the program.
    pub(crate) inlines: bool,
}

/// Whether ops become machine code, where that is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codegen {
    Off,
    On,
    /// With a label for each operation.
    Listed,
}

/// The threads, memory and services of an engine. Creating them starts no thread and reserves no memory.
pub(crate) struct Runtime {
    pub(crate) pool: Arc<Pool>,
    pub(crate) allocator: Arc<Allocator>,
    /// The services for handlers of custom calls.
    pub(crate) host: Host,
    /// Threads for programs with custom calls.
    pub(crate) threads: Threads,
    pub(crate) trace: Option<Arc<Trace>>,
    /// The time limit of processes that wait for others.
    pub(crate) watch: Arc<Watch>,
    /// The instructions of the machine code that loops become; `None` if nothing becomes machine code.
    pub(crate) isa: Option<Isa>,
    /// Whether machine code has a label for each operation.
    listed: bool,
    /// The file of names of machine code, if there is one.
    pub(crate) perf_map: Option<PerfMap>,
    /// Whether calls of pointwise functions become parts of the program.
    pub(crate) inlines: bool,
}

impl Runtime {
    pub(crate) fn new(options: RuntimeOptions) -> Runtime {
        let threads = match options.num_threads {
            0 => std::thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads,
        };
        let (pool, allocator) = (Arc::new(Pool::new(threads)), Arc::new(Allocator::with_cache(options.cache)));
        let host = Host::new(options.platform, &pool, &allocator);
        let watch = Arc::new(Watch::new(options.collective_timeout));
        let RuntimeOptions { trace, isa, listed, perf_map, inlines, .. } = options;
        Runtime { pool, allocator, host, threads: Threads::new(), trace, watch, isa, listed, perf_map, inlines }
    }

    /// Whether ops become machine code, where that is possible.
    pub(crate) fn generates(&self) -> bool {
        self.isa.is_some()
    }

    /// How ops become machine code.
    pub(crate) fn codegen(&self) -> Codegen {
        match (self.isa, self.listed) {
            (None, _) => Codegen::Off,
            (Some(_), false) => Codegen::On,
            (Some(_), true) => Codegen::Listed,
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("pool", &self.pool).field("allocator", &self.allocator).finish_non_exhaustive()
    }
}
