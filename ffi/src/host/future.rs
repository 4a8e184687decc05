//! `XLA_FFI_Future`: the completion of an asynchronous call.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use xla_ffi_sys::xla_ffi as sys;

use super::error::take;
use super::slot::slot;
use crate::sync::{Condvar, Mutex};
use crate::{Code, Error, Result};

/// The completion of a call whose handler returned before its work was done.
///
/// The handler completes it through `XLA_FFI_Future_SetAvailable` or `XLA_FFI_Future_SetError`, from any thread.
/// The buffers of the call must live until then.
pub struct Future(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Callbacks never run while it is locked.
    state: Mutex<State>,
    completed: Condvar,
}

type Callback = Box<dyn FnOnce(Result<()>) + Send>;

#[derive(Default)]
struct State {
    outcome: Option<Outcome>,
    callbacks: Vec<Callback>,
}

/// The outcome of a call; unlike an [`Error`] it can be told to several listeners.
#[derive(Clone)]
enum Outcome {
    Done,
    Failed(Code, String),
}

impl Outcome {
    fn result(&self) -> Result<()> {
        match self {
            Outcome::Done => Ok(()),
            Outcome::Failed(code, message) => Err(Error::new(*code, message.as_str())),
        }
    }
}

impl Shared {
    fn complete(&self, outcome: Outcome) {
        let callbacks = {
            let mut state = self.state.lock();
            state.outcome = Some(outcome.clone());
            std::mem::take(&mut state.callbacks)
        };
        self.completed.notify_all();
        for callback in callbacks {
            callback(outcome.result());
        }
    }
}

impl Future {
    /// Takes the future that a handler left in its call frame; `None` for null, which means that the call is done.
    ///
    /// # Safety
    /// `future` is null, or was made by `XLA_FFI_Future_Create` of this module, and is taken for the first time.
    pub(crate) unsafe fn take(future: *mut sys::XLA_FFI_Future) -> Option<Future> {
        if future.is_null() {
            return None;
        }
        // SAFETY: `create` made it with one share for the host, which is this one.
        Some(Future(unsafe { Arc::from_raw(future.cast_const().cast::<Shared>()) }))
    }

    /// Waits until the call is done.
    ///
    /// # Errors
    /// The error that the handler completed the future with.
    pub fn wait(&self) -> Result<()> {
        let mut state = self.0.state.lock();
        loop {
            if let Some(outcome) = &state.outcome {
                return outcome.result();
            }
            state = self.0.completed.wait(state);
        }
    }

    /// [`wait`](Future::wait) for at most `timeout`; `None` when the call is not done by then.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<Result<()>> {
        let deadline = Instant::now() + timeout;
        let mut state = self.0.state.lock();
        loop {
            if let Some(outcome) = &state.outcome {
                return Some(outcome.result());
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            state = self.0.completed.wait_timeout(state, left).0;
        }
    }

    /// Whether the call is done.
    pub fn is_ready(&self) -> bool {
        self.0.state.lock().outcome.is_some()
    }

    /// Calls `callback` with the outcome: now if the call is done, otherwise on the thread that completes it.
    pub fn on_ready(&self, callback: impl FnOnce(Result<()>) + Send + 'static) {
        let outcome = {
            let mut state = self.0.state.lock();
            match &state.outcome {
                Some(outcome) => outcome.result(),
                None => return state.callbacks.push(Box::new(callback)),
            }
        };
        callback(outcome);
    }
}

impl fmt::Debug for Future {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Future").field("is_ready", &self.is_ready()).finish()
    }
}

slot! {
    /// `XLA_FFI_Future_Create`. As in XLA, the handler must put the future into its call frame, and complete it.
    pub(super) fn create(
        args: sys::XLA_FFI_Future_Create_Args,
        "XLA_FFI_Future_Create",
        sys::XLA_FFI_Future_Create_Args_STRUCT_SIZE
    ) {
        let shared = Arc::new(Shared::default());
        // One share for the host, which takes it from the call frame, and one for whoever completes the future: it may
        // do so before the handler has returned, or after the host has given up.
        let _promise = Arc::into_raw(Arc::clone(&shared));
        (*args).future = Arc::into_raw(shared).cast_mut().cast();
        Ok(())
    }
}

/// Completes a future, and gives up the share of the side that completes it.
///
/// # Safety
/// `future` is null, or was made by [`create`] and has not been completed.
unsafe fn complete(future: *mut sys::XLA_FFI_Future, outcome: Outcome) -> Result<()> {
    if future.is_null() {
        return Err(Error::invalid_argument("the future is null"));
    }
    // SAFETY: the share that `create` left for this side, given up once.
    unsafe { Arc::from_raw(future.cast_const().cast::<Shared>()) }.complete(outcome);
    Ok(())
}

slot! {
    /// `XLA_FFI_Future_SetAvailable`. The future may be completed once.
    pub(super) fn set_available(
        args: sys::XLA_FFI_Future_SetAvailable_Args,
        "XLA_FFI_Future_SetAvailable",
        sys::XLA_FFI_Future_SetAvailable_Args_STRUCT_SIZE
    ) {
        complete((*args).future, Outcome::Done)
    }
}

slot! {
    /// `XLA_FFI_Future_SetError`. Takes the error; the future may be completed once.
    pub(super) fn set_error(
        args: sys::XLA_FFI_Future_SetError_Args,
        "XLA_FFI_Future_SetError",
        sys::XLA_FFI_Future_SetError_Args_STRUCT_SIZE
    ) {
        let error = take((*args).error).ok_or_else(|| Error::invalid_argument("Error must not be null or OK"))?;
        complete((*args).future, Outcome::Failed(error.code(), error.message().to_owned()))
    }
}
