//! Launches: cheap executions run on the calling thread, others on the engine's.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use oxcall::Error;
use oxcall_kernels::interrupt::Era;
use oxcall_kernels::pool::Pool;

use super::rendezvous::Participant;
use super::task::{self, Done, Task};
use super::{Argument, Executable, Execution};
use crate::custom_call::{ExecutionInfo, UserData};

/// Programs that are estimated to take longer run on another thread: the handover costs about 50 microseconds.
const INLINE_NANOS: f64 = 125_000.0;

/// The most threads that are assumed to share the work of a short program.
const INLINE_THREADS: usize = 4;

/// Whether a program is short enough for all of its `participants` to run on the thread that launches them.
pub(super) fn is_short(program: &Executable, participants: usize) -> bool {
    let threads = program.runtime.pool.threads().min(INLINE_THREADS);
    program.plan.cost.nanos() * participants as f64 <= INLINE_NANOS * threads as f64
}

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

/// Options of one execution.
#[derive(Debug, Clone, Default)]
pub struct ExecuteOptions {
    /// Where it runs.
    pub launch: Launch,
    /// The device ordinal that handlers of custom calls get.
    pub device_ordinal: i32,
    /// The run id that handlers get; if `None`, the execution gets one of its own.
    pub run_id: Option<i64>,
    /// The user data that handlers find by type id.
    pub user_data: Vec<UserData>,
    /// The time of the request; if `None`, now.
    pub era: Option<Era>,
}

/// The data of an execution that handlers get.
pub(super) fn execution_info(options: &ExecuteOptions, run_id: i64, device_ordinal: i32) -> ExecutionInfo<'_> {
    ExecutionInfo { run_id, device_ordinal, user_data: &options.user_data }
}

/// Runs `program`, as a participant of its rendezvous if it has one. Calls `done` with the results, either before it
/// returns or later on another thread.
pub(crate) fn launch(
    program: &Arc<Executable>,
    arguments: Vec<Argument>,
    options: &ExecuteOptions,
    participant: Option<Participant>,
    done: Done,
) {
    static RUNS: AtomicI64 = AtomicI64::new(1);
    let run_id = options.run_id.unwrap_or_else(|| RUNS.fetch_add(1, Ordering::Relaxed));
    let era = options.era.unwrap_or_else(Era::now);
    let participants = participant.as_ref().map_or(1, |participant| participant.rendezvous.len());
    let is_lone = participant.is_none() && !program.has_calls();
    let alone = options.launch == Launch::Auto && is_lone && program.runtime.pool.is_alone(program.plan.cost);
    let inline = match options.launch {
        Launch::Auto => alone || is_short(program, participants),
        Launch::Inline => true,
        Launch::Elsewhere => false,
    };
    let start = Start { program: Arc::clone(program), arguments, run_id, era, participant, done, inline };
    if alone {
        return Pool::alone(|| start.run(options));
    }
    if inline {
        return start.run(options);
    }
    let options = options.clone();
    task::on_another_thread(&program.runtime, program.has_calls(), Box::new(move || start.run(&options)));
}

/// An execution that has not begun: it holds no memory except its arguments.
struct Start {
    program: Arc<Executable>,
    arguments: Vec<Argument>,
    run_id: i64,
    era: Era,
    participant: Option<Participant>,
    done: Done,
    inline: bool,
}

impl Start {
    fn run(self, options: &ExecuteOptions) {
        let Start { program, arguments, run_id, era, participant, done, inline } = self;
        let info = execution_info(options, run_id, options.device_ordinal);
        match Execution::begin(Arc::clone(&program), arguments, &info, participant, era) {
            Ok(execution) => {
                let inherited = (!program.plan.manuals.is_empty()).then(|| options.clone());
                // From here on only the execution holds the program.
                drop(program);
                task::run(Task { execution, done, inline, options: inherited, failure: None });
            }
            Err((error, participant)) => abandon(program, participant, error, done),
        }
    }
}

/// Ends a participant of a rendezvous whose execution did not begin.
pub(crate) fn abandon(program: Arc<Executable>, participant: Option<Participant>, error: Error, done: Done) {
    let mut queue = VecDeque::new();
    task::end(program, participant, Err(error), done, &mut queue);
    queue.into_iter().for_each(task::run);
}

/// Converts a panic to an error.
pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Error {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    Error::internal(format!("the engine panicked: {}", text.unwrap_or_else(|| "no message".to_owned())))
}
