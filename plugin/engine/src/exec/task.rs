//! Tasks: executions with the action to take at their end, and the loop that runs them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use oxcall::Error;
use oxcall_kernels::environment::with_default_environment;
use oxcall_kernels::interrupt::Era;
use oxcall_kernels::memory::Buffer;

use super::launch::panicked;
use super::rendezvous::{Next, Participant};
use super::{Executable, ExecuteOptions, Execution, Progress, lent, manual};
use crate::runtime::{Job, Runtime};

/// Takes the results. Returns the execution that waited for them, if any.
pub(crate) type Done = Box<dyn FnOnce(Result<Vec<Buffer>, Error>) -> Option<Task> + Send>;

/// An execution, with the action to take at its end.
pub(crate) struct Task {
    pub(crate) execution: Execution,
    pub(crate) done: Done,
    /// Whether it stays on its current thread, with its whole rendezvous.
    pub(crate) inline: bool,
    /// The options for participants of manual computations, if the program has any.
    pub(crate) options: Option<ExecuteOptions>,
    /// The error of the step that it waited for, which ends it.
    pub(crate) failure: Option<Error>,
}

/// Calls [`Execution::advance`], with panics of kernels as errors.
fn advance(execution: &mut Execution) -> Result<Progress, Error> {
    CURRENT.set(Some(execution.era()));
    catch_unwind(AssertUnwindSafe(|| execution.advance())).unwrap_or_else(|payload| Err(panicked(&*payload)))
}

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    static CURRENT: Cell<Option<Era>> = const { Cell::new(None) };
}

/// The era of the execution whose handler this thread runs.
pub fn current_era() -> Option<Era> {
    CURRENT.get()
}

/// Whether this thread is running executions or their completion callbacks. Other executions may depend on it, so it
/// must not wait for an execution to end.
pub fn on_engine_thread() -> bool {
    RUNNING.get()
}

/// Marks this thread as one of the engine ([`on_engine_thread`]) until it is dropped.
struct Engaged(bool);

impl Engaged {
    fn new() -> Engaged {
        Engaged(RUNNING.replace(true))
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// Runs an execution on this thread as far as it gets, and then those that it lets resume.
pub(crate) fn run(task: Task) {
    with_default_environment(|| run_all(task));
}

fn run_all(task: Task) {
    let _engaged = Engaged::new();
    // Most executions have no others to resume, so their queue takes no memory.
    let (mut first, mut queue) = (Some(task), VecDeque::new());
    while let Some(mut task) = first.take().or_else(|| queue.pop_front()) {
        if let Some(error) = task.failure.take() {
            finish(task, Err(error), &mut queue);
            continue;
        }
        match advance(&mut task.execution) {
            Ok(Progress::Manual(site)) => manual::start(task, site, &mut queue),
            Ok(Progress::Done(results)) => finish(task, Ok(results), &mut queue),
            Ok(Progress::Waiting(future, site)) => future.on_ready(move |outcome| resume(task, site, outcome)),
            Ok(Progress::Collective(site)) => {
                match task.execution.participant().map(|participant| Arc::clone(&participant.rendezvous)) {
                    Some(rendezvous) => proceed(rendezvous.arrive(task, site), &mut queue),
                    None => {
                        let error = "the program has collectives: run it on all of its devices in one call";
                        finish(task, Err(Error::failed_precondition(error)), &mut queue);
                    }
                }
            }
            Err(error) => finish(task, Err(error), &mut queue),
        }
    }
}

/// Ends the failed participants of a rendezvous.
pub(crate) fn fail(next: Next) {
    let mut queue = VecDeque::new();
    proceed(next, &mut queue);
    queue.into_iter().for_each(elsewhere);
}

/// Resumes or ends the participants of a rendezvous. If several can resume, the first one stays on this thread, unless
/// all do.
pub(super) fn proceed(next: Next, queue: &mut VecDeque<Task>) {
    let Next { ready, failed } = next;
    for (index, task) in ready.into_iter().enumerate() {
        if task.inline || index == 0 { queue.push_back(task) } else { elsewhere(task) }
    }
    failed.into_iter().for_each(|(task, error)| finish(task, Err(error), queue));
}

/// Ends an execution.
fn finish(task: Task, outcome: Result<Vec<Buffer>, Error>, queue: &mut VecDeque<Task>) {
    let Task { mut execution, done, .. } = task;
    let program = Arc::clone(execution.program());
    let participant = execution.leave();
    drop(execution);
    end(program, participant, outcome, done, queue);
}

/// Tells the rendezvous and the caller that a participant has ended. Before they learn of it, the execution has
/// released its memory, and the program if this was its last use: a caller that drops it finds its states dropped.
pub(super) fn end(
    program: Arc<Executable>,
    participant: Option<Participant>,
    outcome: Result<Vec<Buffer>, Error>,
    done: Done,
    queue: &mut VecDeque<Task>,
) {
    let _engaged = Engaged::new();
    let Some(Participant { rendezvous, rank }) = participant else {
        drop(program);
        return queue.extend(done(outcome));
    };
    let name = |site: u32| program.plan.collectives[site as usize].name.clone();
    let (outcome, next) = rendezvous.end(rank, outcome, name);
    drop((program, rendezvous));
    queue.extend(done(outcome));
    proceed(next, queue);
}

/// Resumes after a pending custom call, which may have completed on a thread that the engine must not occupy.
fn resume(task: Task, site: u32, outcome: Result<(), Error>) {
    match outcome {
        Ok(()) if lent::is_lent() => caught(|| run(task)),
        Ok(()) => elsewhere(task),
        Err(error) => {
            let error = task.execution.program().plan.calls[site as usize].explain(error);
            let mut queue = VecDeque::new();
            finish(task, Err(error), &mut queue);
            queue.into_iter().for_each(elsewhere);
        }
    }
}

/// Runs the rest on another thread.
pub(crate) fn elsewhere(task: Task) {
    let program = task.execution.program();
    let (runtime, calls) = (Arc::clone(&program.runtime), program.has_calls());
    on_another_thread(&runtime, calls, Box::new(move || run(task)));
}

/// Runs `work`, which runs a program, on another thread; if there is none, on this one. A handler may wait for tasks
/// that it gives to the engine's threads, so programs with custom calls do not run on those.
pub(super) fn on_another_thread(runtime: &Runtime, calls: bool, work: Job) {
    let run: Job = Box::new(move || caught(work));
    let left = if calls { runtime.threads.spawn(run) } else { runtime.pool.spawn(run) };
    if let Some(run) = left {
        run();
    }
}

/// Drops a panic of `done`: there is no caller to report it to.
fn caught(work: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(work));
}
