//! The services of a test's host.

use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::Result;
use crate::descriptor::Stage;
use crate::host::{AttrValue, HostVersion, InvokeContext, LazyPool, ScratchAllocator, StageState, TaskPool};

/// Finds the id of a type of user data on a host.
pub(super) type TypeIdOf = Arc<dyn Fn(HostVersion) -> Result<i64> + Send + Sync>;

/// The parts of the contexts of a call.
pub(super) struct Config {
    pub(super) version: HostVersion,
    pub(super) device_ordinal: i32,
    pub(super) run_id: Option<i64>,
    pub(super) stream: Option<Stream>,
    pub(super) pool: Option<Arc<dyn TaskPool>>,
    pub(super) scratch: Option<Arc<dyn ScratchAllocator>>,
    pub(super) user_data: Vec<(TypeIdOf, Arc<dyn Any + Send + Sync>)>,
    pub(super) options: Vec<(String, AttrValue)>,
    pub(super) skipped: Vec<Stage>,
    pub(super) timeout: Duration,
}

/// A platform's stream.
#[derive(Clone, Copy)]
pub(super) struct Stream(pub(super) *mut c_void);

// SAFETY: the address is only handed to the handler; the test that gave it allows calls on any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Default for Config {
    fn default() -> Config {
        Config {
            version: HostVersion::default(),
            device_ordinal: 0,
            run_id: None,
            stream: None,
            pool: Some(Arc::new(LazyPool::new(2))),
            scratch: None,
            user_data: Vec::new(),
            options: Vec::new(),
            skipped: Vec::new(),
            timeout: Duration::from_secs(60),
        }
    }
}

impl Config {
    /// The context of one execution; run ids count up unless the test gave one.
    pub(super) fn context(&self, instantiated: &Arc<StageState>) -> Result<InvokeContext> {
        static NEXT_RUN: AtomicI64 = AtomicI64::new(1);
        let run_id = self.run_id.unwrap_or_else(|| NEXT_RUN.fetch_add(1, Ordering::Relaxed));
        let mut builder = InvokeContext::builder()
            .version(self.version)
            .device_ordinal(self.device_ordinal)
            .run_id(run_id)
            .custom_options(&self.options)
            .state(Stage::Instantiate, Arc::clone(instantiated));
        if let Some(Stream(stream)) = self.stream {
            builder = builder.stream(stream);
        }
        if let Some(pool) = &self.pool {
            builder = builder.pool(Arc::clone(pool));
        }
        if let Some(scratch) = &self.scratch {
            builder = builder.scratch(Arc::clone(scratch));
        }
        for (type_id, data) in &self.user_data {
            builder = builder.shared_user_data(type_id(self.version)?, Arc::clone(data));
        }
        Ok(builder.build())
    }
}
