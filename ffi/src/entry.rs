//! From the C entry point to the generated code and back: frame heads, panics, errors.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use xla_ffi_sys::xla_ffi as sys;

use crate::api::HostApi;
use crate::attr::Dict;
use crate::context::{Context, FromContext, Future, Pending};
use crate::descriptor::{Handler, Stage};
use crate::frame::{Frame, cold};
use crate::metadata::{answer_metadata, answer_pointwise, is_metadata_query, is_pointwise_query};
use crate::state::{HostType, State};
use crate::{Error, Result, explain, panics};

/// An operation's execute handler, as the macro generates it.
///
/// # Safety
/// `run` must give results' memory to the user's function only after [`check_overlap`](crate::frame::check_overlap).
pub unsafe trait Execute {
    /// The operation.
    const HANDLER: &'static Handler;

    /// Whether a parameter lets work go on after the handler has returned.
    const OUTLIVES_FRAME: bool;

    /// Decodes the frame and calls the user's function.
    ///
    /// # Errors
    /// Those of decoding and of the user's function.
    fn run(frame: &Frame<'_>) -> Result<()>;
}

/// A `#[stage]` function, as the macro generates it.
pub trait StageFn {
    /// When it runs.
    const STAGE: Stage;
    /// The attributes that it names.
    const ATTRS: &'static [crate::descriptor::AttrParam];
    /// Whether it accepts attributes without a parameter.
    const EXTRA_ATTRS: bool;
    /// Its return type.
    type State: State;

    /// The registration of its state's type.
    fn host_type() -> &'static HostType;

    /// Decodes the frame and calls the user's function; `handler` is the operation.
    ///
    /// # Errors
    /// Those of decoding and of the user's function.
    fn run(frame: &Frame<'_>, handler: &'static Handler) -> Result<Self::State>;
}

/// Return types of handler functions.
#[diagnostic::on_unimplemented(
    message = "a custom call cannot return `{Self}`",
    note = "return nothing, `Result<()>`, or with an `Async` parameter a `Future` or `Result<Future>`; results are written through `Out` parameters"
)]
pub trait Outcome {
    /// The error, if there is one.
    #[doc(hidden)]
    fn outcome(self) -> Result<()>;
}

impl Outcome for () {
    #[inline(always)]
    fn outcome(self) -> Result<()> {
        Ok(())
    }
}

impl Outcome for Future<'_> {
    fn outcome(self) -> Result<()> {
        Ok(())
    }
}

impl<T: Outcome, E: Into<Error>> Outcome for Result<T, E> {
    #[inline(always)]
    fn outcome(self) -> Result<()> {
        match self {
            Ok(value) => value.outcome(),
            Err(error) => Err(error.into()),
        }
    }
}

/// Runs all that an entry point does. Panics of the op's function are caught inside; any other can neither become an
/// error nor unwind into the host, so it ends the process with a text that says so.
///
/// `handler` is a function, so that the handler's address need not be in memory in case of a panic.
#[inline(always)]
pub(crate) fn abort_on_panic<R>(handler: impl Fn() -> &'static Handler, body: impl FnOnce() -> R) -> R {
    struct Trap<F: Fn() -> &'static Handler>(F);

    impl<F: Fn() -> &'static Handler> Drop for Trap<F> {
        #[inline(always)]
        fn drop(&mut self) {
            panicked_outside(self.0());
        }
    }

    let trap = Trap(handler);
    let result = body();
    std::mem::forget(trap);
    result
}

#[cold]
#[inline(never)]
fn panicked_outside(handler: &'static Handler) -> ! {
    panics::tell(format_args!(
        "{}: a panic outside of the op's function, while its call was decoded or its outcome was handed to the host, \
         cannot become an error: the process is aborted",
        handler.name
    ));
    std::process::abort()
}

/// The body of every execute handler.
///
/// # Safety
/// `raw` is null or a call frame as XLA makes them.
#[inline(always)]
pub unsafe fn execute<E: Execute>(raw: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as the caller guarantees.
    abort_on_panic(|| E::HANDLER, || unsafe { execute_frame::<E>(raw) })
}

/// # Safety
/// As for [`execute`].
#[inline(always)]
unsafe fn execute_frame<E: Execute>(raw: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    let pending = Pending::default();
    // SAFETY: as the caller guarantees; nothing of the frame is used after this function.
    let Some(frame) = (unsafe { Frame::new(raw, Stage::Execute, E::OUTLIVES_FRAME.then_some(&pending)) }) else {
        cold();
        // SAFETY: as the caller guarantees.
        return unsafe { unusual(raw, E::HANDLER, Stage::Execute, None) };
    };
    let outcome = catch_unwind(AssertUnwindSafe(move || match E::run(&frame) {
        Ok(()) => std::ptr::null_mut(),
        Err(error) => fail(frame, E::HANDLER, error),
    }));
    // SAFETY: the host outlives this call, and the table is not used after it.
    let api = unsafe { frame.api().extend::<'static>() };
    if E::OUTLIVES_FRAME {
        match (&outcome, pending.future()) {
            (Ok(error), Some(future)) if error.is_null() => frame.set_future(future),
            _ => pending.wait(),
        }
        pending.end();
    }
    match outcome {
        Ok(error) => error,
        Err(payload) => report_panic(api, E::HANDLER, payload),
    }
}

/// The body of every other stage's handler.
///
/// # Safety
/// `raw` is null or a call frame as XLA makes them.
pub unsafe fn stage<S: StageFn>(
    raw: *mut sys::XLA_FFI_CallFrame,
    handler: &'static Handler,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as the caller guarantees.
    abort_on_panic(|| handler, || unsafe { stage_frame::<S>(raw, handler) })
}

/// # Safety
/// As for [`stage`].
unsafe fn stage_frame<S: StageFn>(
    raw: *mut sys::XLA_FFI_CallFrame,
    handler: &'static Handler,
) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as the caller guarantees; nothing of the frame is used after this function.
    let Some(frame) = (unsafe { Frame::new(raw, S::STAGE, None) }) else {
        // SAFETY: as the caller guarantees.
        return unsafe { unusual(raw, handler, S::STAGE, Some(S::host_type())) };
    };
    // Hosts before API 0.3 keep a state of the instantiate stage only, and one without bytes need not be kept.
    let is_kept = size_of::<S::State>() > 0 || S::STAGE == Stage::Instantiate || frame.api().minor() > 2;
    let keep = |state| {
        if is_kept { S::host_type().set(frame.api(), frame.ctx(), S::STAGE, state) } else { Ok(()) }
    };
    let run = || S::run(&frame, handler).and_then(keep);
    let api = frame.api();
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => std::ptr::null_mut(),
        Ok(Err(error)) => report(api, handler, S::STAGE, &error),
        Err(payload) => report_panic(api, handler, payload),
    }
}

/// A context parameter's value.
///
/// # Errors
/// If the host does not have it; the message names the operation and the parameter.
#[inline(always)]
pub fn context<'f, C: FromContext<'f>>(
    frame: &Frame<'f>,
    handler: &'static Handler,
    parameter: &'static str,
) -> Result<C> {
    C::from_context(&Context::of(frame, handler.name)).map_err(|error| explain::context(handler, parameter, error))
}

/// A state parameter's value.
///
/// # Errors
/// If no stage left it; the message names the operation and the parameter.
#[inline(always)]
pub fn state<'f, S: StageFn>(
    frame: &Frame<'f>,
    handler: &'static Handler,
    parameter: &'static str,
) -> Result<&'f S::State> {
    // SAFETY: `S::host_type` is the registration of `S::State`; the context is live during 'f.
    unsafe { S::host_type().get::<S::State>(frame.api(), frame.ctx(), S::STAGE) }
        .map_err(|error| explain::context(handler, parameter, error))
}

/// As [`state`], for a state that the host may drop when the handler returns, before asynchronous work ends.
///
/// # Errors
/// As there.
#[inline(always)]
pub fn call_state<'a, S: StageFn>(
    frame: &'a Frame<'_>,
    handler: &'static Handler,
    parameter: &'static str,
) -> Result<&'a S::State> {
    state::<S>(frame, handler, parameter)
}

/// The value of a state parameter of a stage function, which does not know who left the state.
///
/// # Errors
/// If the operation has no such stage, or it leaves another type, or did not run.
pub fn state_of<'f, S: State, const STAGE: u8>(
    frame: &Frame<'f>,
    handler: &'static Handler,
    parameter: &'static str,
) -> Result<&'f S> {
    let stage = handler.stages.iter().find(|other| other.stage as u8 == STAGE);
    let state = match stage {
        None => Err(Error::failed_precondition("no stage of the operation makes this state")),
        Some(stage) if (stage.state)() != std::any::TypeId::of::<S>() => Err(Error::failed_precondition(format!(
            "the {} stage makes a state of a type other than {}",
            stage.stage.name(),
            std::any::type_name::<S>()
        ))),
        // SAFETY: the stage's type is `S`; the context is live during 'f.
        Some(stage) => unsafe { (stage.host_type)().get::<S>(frame.api(), frame.ctx(), stage.stage) },
    };
    state.map_err(|error| explain::context(handler, parameter, error))
}

/// All attributes that no parameter names. They end with the handler, buffers may last longer.
///
/// # Errors
/// If the host's list is malformed.
pub fn rest<'a>(frame: &'a Frame<'_>, handler: &'static Handler) -> Result<Dict<'a>> {
    Ok(Dict::rest(frame.attrs(handler)?, handler.attrs))
}

/// Hands over an error, which may or may not name the operation, naming the operation and any stage but execute.
#[cold]
pub(crate) fn report(
    api: HostApi<'_>,
    handler: &'static Handler,
    stage: Stage,
    error: &Error,
) -> *mut sys::XLA_FFI_Error {
    let message = error.message();
    let rest = message.strip_prefix(handler.name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message);
    let stage = if stage == Stage::Execute { String::new() } else { format!(" ({} stage)", stage.name()) };
    create(api, &Error::new(error.code(), format!("{}{stage}: {rest}", handler.name)))
}

/// As [`report`], for the execute stage; drops the error here, so that no handler has code for it.
#[cold]
#[inline(never)]
fn fail(frame: Frame<'_>, handler: &'static Handler, error: Error) -> *mut sys::XLA_FFI_Error {
    abort_on_panic(|| handler, move || report(frame.api(), handler, Stage::Execute, &error))
}

#[cold]
pub(crate) fn report_panic(
    api: HostApi<'_>,
    handler: &'static Handler,
    payload: Box<dyn std::any::Any + Send>,
) -> *mut sys::XLA_FFI_Error {
    create(api, &Error::internal(format!("{}: {}", handler.name, panics::describe(payload))))
}

/// An error object of the host; never null, which would mean success.
pub(crate) fn create(api: HostApi<'_>, error: &Error) -> *mut sys::XLA_FFI_Error {
    let raw = api.create_error(error);
    if raw.is_null() { unreportable(error) } else { raw }
}

/// An error that cannot be handed over must not look like success, which is null: the host gets the address of an
/// object that is not an error of its own, after the message went to stderr.
#[cold]
pub(crate) fn unreportable(error: &Error) -> *mut sys::XLA_FFI_Error {
    static NOT_AN_ERROR: [usize; 8] = [0; 8];
    panics::tell(format_args!("{error}; the host has no function to make an error with"));
    std::ptr::from_ref(&NOT_AN_ERROR).cast_mut().cast()
}

/// Frames that are no ordinary call: metadata queries, and what a broken host sends.
///
/// # Safety
/// `raw` is null or a call frame as XLA makes them.
#[cold]
#[inline(never)]
pub(crate) unsafe fn unusual(
    raw: *mut sys::XLA_FFI_CallFrame,
    handler: &'static Handler,
    stage: Stage,
    state: Option<&'static HostType>,
) -> *mut sys::XLA_FFI_Error {
    let name = handler.name;
    if raw.is_null() {
        return unreportable(&Error::internal(format!("{name}: the host gave no call frame")));
    }
    // SAFETY: frames start with their size.
    let size = unsafe { (*raw).struct_size };
    if size < sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize {
        let expected = sys::XLA_FFI_CallFrame_STRUCT_SIZE;
        return unreportable(&Error::internal(format!(
            "{name}: the host's call frame has {size} bytes, at least {expected} are needed"
        )));
    }
    // SAFETY: the frame is whole.
    let (api, mut extension, given) = unsafe { (HostApi::new((*raw).api), (*raw).extension_start, (*raw).stage) };
    let mut is_query = false;
    // SAFETY: extensions are a list that ends with null; each starts with its size and type.
    unsafe {
        while !extension.is_null() {
            if is_metadata_query(extension) {
                answer_metadata(extension.cast(), api, handler, state);
                is_query = true;
            } else if is_pointwise_query(extension) {
                answer_pointwise(extension.cast(), handler);
            }
            extension = (*extension).next;
        }
    }
    if is_query {
        return std::ptr::null_mut();
    }
    let Some(api) = api else {
        return unreportable(&Error::internal(format!("{name}: the host's call frame has no API table")));
    };
    if given != stage as sys::XLA_FFI_ExecutionStage {
        let error = Error::internal(format!("{name}: the {} handler was called in stage {given}", stage.name()));
        return create(api, &error);
    }
    create(api, &Error::internal(format!("{name}: this version of oxcall does not understand the call frame")))
}

/// Keeps a handler's address a data pointer where C tables want one.
pub(crate) fn address(handler: crate::descriptor::RawHandler) -> *mut c_void {
    handler as *mut c_void
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::abort_on_panic;
    use crate::descriptor::Op;
    use crate::prelude::*;

    /// Set for the process that is to end.
    const CHILD: &str = "OXCALL_TEST_ABORTS";

    #[custom_call(crate = crate)]
    fn abort_trap(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
        y.copy_from_slice(&x);
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn panics_outside_of_the_function_abort() {
        let handler = abort_trap::HANDLER;
        if std::env::var_os(CHILD).is_some() {
            abort_on_panic(|| handler, || panic!("no room"));
        }
        assert_eq!(abort_on_panic(|| handler, || 7), 7);
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "entry::tests::panics_outside_of_the_function_abort", "--nocapture"]);
        let output = child.env(CHILD, "1").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        // A signal: neither the harness's code for a failed test nor success.
        assert_eq!(output.status.code(), None, "{errors}");
        for part in ["no room", "oxcall: abort_trap: a panic outside of the op's function", "the process is aborted"] {
            assert!(errors.contains(part), "{part} in {errors}");
        }
    }
}
