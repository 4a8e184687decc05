//! The engine as a host of handlers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use oxcall::host::{ScratchAllocator, TaskPool};
use oxcall_kernels::environment::with_default_environment;
use oxcall_kernels::memory::{Allocator, PoolScratch};
use oxcall_kernels::pool::Pool;

/// The engine as a host of handlers.
pub(crate) struct Host {
    /// The platform whose handlers take precedence.
    pub(crate) platform: String,
    pub(crate) tasks: Arc<dyn TaskPool>,
    pub(crate) scratch: Arc<dyn ScratchAllocator>,
}

/// Runs tasks of handlers on the engine's threads.
struct Tasks(Arc<Pool>);

impl TaskPool for Tasks {
    fn schedule(&self, task: Box<dyn FnOnce() + Send>) {
        self.0.workers().spawn(move || {
            // A panic concerns only its task: the thread lives on for other tasks.
            let _ = with_default_environment(|| catch_unwind(AssertUnwindSafe(task)));
        });
    }

    fn num_threads(&self) -> usize {
        self.0.threads()
    }
}

impl Host {
    pub(crate) fn new(platform: String, pool: &Arc<Pool>, allocator: &Arc<Allocator>) -> Host {
        let scratch = Arc::new(PoolScratch::new(Arc::clone(allocator)));
        Host { platform, tasks: Arc::new(Tasks(Arc::clone(pool))), scratch }
    }
}
