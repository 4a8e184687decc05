//! What the engine offers to handlers.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use oxcall::host::{ScratchAllocator, TaskPool};
use oxcall_hlo::CustomCall;

use crate::{
    memory::{Allocator, PoolScratch},
    pool::Pool,
};

/// The engine as a host of handlers.
pub(crate) struct Host {
    /// The platform whose handlers are looked up first.
    pub(crate) platform: String,
    pub(crate) tasks: Arc<dyn TaskPool>,
    pub(crate) scratch: Arc<dyn ScratchAllocator>,
}

/// Tasks of handlers run on the engine's threads.
struct Tasks(Arc<Pool>);

impl TaskPool for Tasks {
    fn schedule(&self, task: Box<dyn FnOnce() + Send>) {
        self.0.workers().spawn(move || {
            // A panic is the task's own affair: the thread lives on for the others.
            let _ = catch_unwind(AssertUnwindSafe(task));
        });
    }

    fn num_threads(&self) -> usize {
        self.0.threads()
    }
}

/// Custom calls that say how values are spread among devices, or to which memory they go: on one device, whose memories
/// are one, nothing is to be done.
const PLACEMENT_TARGETS: [&str; 4] =
    ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"];

impl Host {
    pub(crate) fn new(platform: String, pool: &Arc<Pool>, allocator: &Arc<Allocator>) -> Host {
        let scratch = Arc::new(PoolScratch::new(Arc::clone(allocator)));
        Host { platform, tasks: Arc::new(Tasks(Arc::clone(pool))), scratch }
    }

    /// Whether the results of `call` are its operands.
    pub(crate) fn is_identity(&self, call: &CustomCall) -> bool {
        PLACEMENT_TARGETS.contains(&call.target.as_str())
    }
}
