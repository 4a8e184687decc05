//! Where executions run: cheap ones on the calling thread, others on the engine's.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
};

use oxcall::Error;

use super::{Argument, Execution, Progress};
use crate::{
    custom_call::{ExecutionInfo, UserData},
    engine::Compiled,
    memory::Buffer,
};

/// Programs that are estimated to take longer than this run elsewhere: handing one over costs about 50 microseconds.
const INLINE_NANOS: f64 = 100_000.0;

/// Where an execution runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Launch {
    /// On the calling thread if the program is cheap.
    #[default]
    Auto,
    /// On the calling thread.
    Inline,
    /// On another thread.
    Elsewhere,
}

/// What a caller may say about an execution.
#[derive(Debug, Clone, Default)]
pub struct ExecuteOptions {
    /// Where it runs.
    pub launch: Launch,
    /// The device that handlers of custom calls are told.
    pub device_ordinal: i32,
    /// The run id that handlers are told; unless given, one of its own.
    pub run_id: Option<i64>,
    /// What handlers find under type ids.
    pub user_data: Vec<UserData>,
}

/// What is called with the results.
type Done = Box<dyn FnOnce(Result<Vec<Buffer>, Error>) + Send>;

/// Runs `program`, and calls `done` with its results: before it returns, or later on another thread.
pub(crate) fn launch(
    program: &Arc<Compiled>,
    arguments: Vec<Argument>,
    options: &ExecuteOptions,
    done: impl FnOnce(Result<Vec<Buffer>, Error>) + Send + 'static,
) {
    static RUNS: AtomicI64 = AtomicI64::new(1);
    let run_id = options.run_id.unwrap_or_else(|| RUNS.fetch_add(1, Ordering::Relaxed));
    let info = ExecutionInfo { run_id, device_ordinal: options.device_ordinal, user_data: &options.user_data };
    let inline = match options.launch {
        Launch::Auto => program.plan.cost.nanos() <= INLINE_NANOS,
        Launch::Inline => true,
        Launch::Elsewhere => false,
    };
    match Execution::begin(Arc::clone(program), arguments, &info) {
        Ok(execution) if inline => proceed(execution, done),
        Ok(execution) => elsewhere(execution, Box::new(done)),
        Err(error) => done(Err(error)),
    }
}

/// [`Execution::advance`]; panics of kernels are errors.
fn advance(execution: &mut Execution) -> Result<Progress, Error> {
    catch_unwind(AssertUnwindSafe(|| execution.advance())).unwrap_or_else(|payload| Err(panicked(&*payload)))
}

/// A panic as an error.
pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Error::internal(format!("the engine panicked: {}", text.unwrap_or_else(|| "no message".to_owned())))
}

/// Goes on after a custom call that was waited for, which may have completed on a thread that is not ours to keep.
fn resume(execution: Execution, site: u32, outcome: Result<(), Error>, done: Done) {
    match outcome {
        Ok(()) => elsewhere(execution, done),
        Err(error) => {
            let error = execution.program().plan.calls[site as usize].explain(error);
            drop(execution);
            done(Err(error));
        }
    }
}

/// Runs the rest on another thread. A handler may wait for tasks that it gives to the engine's threads: so programs
/// with custom calls do not run on these.
fn elsewhere(execution: Execution, done: Done) {
    if execution.program().plan.calls.is_empty() {
        let program = Arc::clone(execution.program());
        return match catch_unwind(AssertUnwindSafe(|| program.engine.pool().workers())) {
            Ok(workers) => workers.spawn(move || finish(execution, done)),
            // Without another thread this one has to do it.
            Err(_) => finish(execution, done),
        };
    }
    let work = Box::new((execution, done));
    let shared = Arc::new(std::sync::Mutex::new(Some(work)));
    let theirs = Arc::clone(&shared);
    let take = |shared: &std::sync::Mutex<Option<Box<(Execution, Done)>>>| {
        shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    };
    let started = thread::Builder::new().name("oxcall-run".to_owned()).spawn(move || {
        if let Some(work) = take(&theirs) {
            finish(work.0, work.1);
        }
    });
    // Without another thread this one has to do it.
    if started.is_err()
        && let Some(work) = take(&shared)
    {
        finish(work.0, work.1);
    }
}

/// Runs the rest here. Nobody is there to whom a panic of `done` could be told.
fn finish(execution: Execution, done: Done) {
    let _ = catch_unwind(AssertUnwindSafe(|| proceed(execution, done)));
}

fn proceed<F>(mut execution: Execution, done: F)
where
    F: FnOnce(Result<Vec<Buffer>, Error>) + Send + 'static,
{
    let outcome = match advance(&mut execution) {
        Ok(Progress::Waiting(future, site)) => {
            let done: Done = Box::new(done);
            return future.on_ready(move |outcome| resume(execution, site, outcome, done));
        }
        Ok(Progress::Done(results)) => Ok(results),
        Err(error) => Err(error),
    };
    // What the execution held is free again before anybody hears of its end.
    drop(execution);
    done(outcome);
}
