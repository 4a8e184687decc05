//! The contexts of an operation's calls, and its states.

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use xla_ffi_sys::xla_ffi as sys;

use super::attrs::{AttrKey, CallAttrs};
use crate::Result;
use crate::descriptor::{Handler, Stage};
use crate::host::{self, InvokeContext, InvokeContextBuilder, LazyPool, StageState, TaskPool};
use crate::sync::Mutex;
use crate::torch::libtorch::shim::Shim;

/// The number of attribute values per operation whose states are kept.
const MAX_STATES: usize = 64;

/// The contexts of one operator's calls.
pub(crate) enum Contexts {
    /// For an operation with only an execute stage: all such operations share one context.
    Shared,
    /// A state for each value of the attributes, as if each were a separate compiled program; the latest is last.
    Stateful(Mutex<Vec<Kept>>),
}

/// A state that is kept for the next call with the same attributes.
pub(crate) struct Kept {
    /// The process that made it: a state may have threads, which do not survive a fork.
    process: u32,
    key: AttrKey,
    state: Arc<StageState>,
}

/// The threads for operations: as many as torch itself uses.
fn pool() -> Arc<dyn TaskPool> {
    static POOL: OnceLock<Arc<LazyPool>> = OnceLock::new();
    Arc::clone(POOL.get_or_init(|| Arc::new(LazyPool::new(num_threads())))) as _
}

fn num_threads() -> usize {
    let of_torch = || {
        let mut threads = 0;
        // SAFETY: it writes the number.
        let status = unsafe { Shim::get().ok()?.num_threads?(&raw mut threads) };
        (status == 0 && threads > 0).then_some(threads as usize)
    };
    of_torch().unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

/// The context of all operations with only an execute stage.
pub(crate) fn shared() -> &'static InvokeContext {
    static SHARED: OnceLock<InvokeContext> = OnceLock::new();
    SHARED.get_or_init(|| InvokeContext::builder().pool(pool()).build())
}

/// A device other than the host: its index, and the stream for its work, if torch provides one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnDevice {
    pub(crate) ordinal: i32,
    pub(crate) stream: Option<*mut c_void>,
}

/// A context of one call.
fn context(device: Option<OnDevice>) -> InvokeContextBuilder {
    let builder = InvokeContext::builder().pool(pool());
    match device {
        None => builder,
        Some(OnDevice { ordinal, stream }) => {
            let builder = builder.device_ordinal(ordinal);
            if let Some(stream) = stream { builder.stream(stream) } else { builder }
        }
    }
}

impl Contexts {
    pub(crate) fn new(handler: &Handler) -> Contexts {
        if handler.stages.is_empty() { Contexts::Shared } else { Contexts::Stateful(Mutex::default()) }
    }

    /// Calls the operation and waits until it completes.
    ///
    /// # Errors
    /// Those of its stages.
    ///
    /// # Safety
    /// `frame` is a complete call frame of the operation, except for the fields that the call itself fills in, with the
    /// attributes that `attrs` holds; its buffers are valid, and belong to the caller.
    #[inline]
    pub(crate) unsafe fn call(
        &self,
        handler: &'static Handler,
        frame: &mut sys::XLA_FFI_CallFrame,
        attrs: &CallAttrs,
        device: Option<OnDevice>,
    ) -> Result<()> {
        // SAFETY: as the caller guarantees.
        unsafe {
            match self {
                Contexts::Shared if device.is_none() => run(handler, Stage::Execute, frame, shared()),
                Contexts::Shared => run(handler, Stage::Execute, frame, &context(device).build()),
                Contexts::Stateful(states) => call_stages(handler, frame, attrs, states, device),
            }
        }
    }
}

/// Runs one stage of an operation, if it has that stage, and waits until it completes.
///
/// # Safety
/// As for [`Contexts::call`].
#[inline]
unsafe fn run(
    handler: &'static Handler,
    stage: Stage,
    frame: &mut sys::XLA_FFI_CallFrame,
    context: &InvokeContext,
) -> Result<()> {
    let inferred = handler.torch.and_then(|op| op.execute).filter(|_| stage == Stage::Execute);
    let Some(function) = inferred.or_else(|| handler.stage(stage)) else { return Ok(()) };
    // SAFETY: a handler of this crate; otherwise as the caller guarantees, until the call completes.
    match unsafe { host::call_frame(function, frame, context, stage) }? {
        None => Ok(()),
        Some(future) => future.wait(),
    }
}

/// # Safety
/// As for [`Contexts::call`].
unsafe fn call_stages(
    handler: &'static Handler,
    frame: &mut sys::XLA_FFI_CallFrame,
    attrs: &CallAttrs,
    states: &Mutex<Vec<Kept>>,
    device: Option<OnDevice>,
) -> Result<()> {
    let context = |state| context(device).state(Stage::Instantiate, state).build();
    let (key, process) = (attrs.key(), std::process::id());
    let same = |kept: &Kept| kept.process == process && kept.key == key;
    let known = {
        let mut states = states.lock();
        let at = states.iter().position(same);
        at.map(|at| {
            let latest = states.remove(at);
            let state = Arc::clone(&latest.state);
            states.push(latest);
            state
        })
    };
    let state = match known {
        Some(state) => state,
        None => {
            let state = Arc::new(StageState::new());
            let mut alone = sys::XLA_FFI_CallFrame {
                struct_size: frame.struct_size,
                args: sys::XLA_FFI_Args { struct_size: frame.args.struct_size, ..Default::default() },
                rets: sys::XLA_FFI_Rets { struct_size: frame.rets.struct_size, ..Default::default() },
                attrs: frame.attrs,
                ..Default::default()
            };
            // Outside the lock, since it may take long: if two threads instantiate at once, the first one's state is
            // kept.
            // SAFETY: a frame with attributes only, as hosts pass it to this stage.
            unsafe { run(handler, Stage::Instantiate, &mut alone, &context(Arc::clone(&state))) }?;
            let mut states = states.lock();
            match states.iter().find(|kept| same(kept)) {
                Some(first) => Arc::clone(&first.state),
                None => {
                    if states.len() == MAX_STATES {
                        let oldest = states.remove(0);
                        if oldest.process != process {
                            // Dropping it could wait for threads that do not exist in this process.
                            std::mem::forget(oldest);
                        }
                    }
                    states.push(Kept { process, key, state: Arc::clone(&state) });
                    state
                }
            }
        }
    };
    let context = context(state);
    for stage in [Stage::Prepare, Stage::Initialize, Stage::Execute] {
        // SAFETY: as the caller guarantees.
        unsafe { run(handler, stage, frame, &context) }?;
    }
    Ok(())
}
