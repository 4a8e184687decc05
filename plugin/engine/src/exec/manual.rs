//! Manual computations: an execution stops until the participants of a nested rendezvous have ended.

use std::any::Any;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

use oxcall::Error;
use oxcall_kernels::memory::{BUFFER_ALIGN, Buffer};

use super::launch::{execution_info, is_short};
use super::rendezvous::{Next, Participant, Rendezvous};
use super::task::{self, Done, Task};
use super::{Argument, Execution};
use crate::collective::ParticipantBuffers;
use crate::plan::{ManualSite, Shard};
use crate::sync::Mutex;

/// An execution that waits for the participants of a manual computation, which may use its memory.
struct Parent(Mutex<State>);

struct State {
    /// `Some` until all participants have ended.
    task: Option<Task>,
    /// The results of the participants that have ended.
    results: Vec<Vec<Buffer>>,
    left: usize,
    failure: Option<Error>,
}

/// Runs the manual computation at which an execution stopped. Its participants go to `queue`, or to other threads.
pub(super) fn start(task: Task, site: u32, queue: &mut VecDeque<Task>) {
    let program = Arc::clone(task.execution.program());
    let manual = &program.plan.manuals[site as usize];
    let child = &program.children[site as usize];
    // The cliques of the region belong to the participants of the program's cliques, in order.
    let outer = |participant: &Participant| {
        let before: usize =
            program.plan.cliques[..participant.rendezvous.index() as usize].iter().map(|clique| clique.len()).sum();
        before + participant.rank as usize
    };
    let index = task.execution.participant().map_or(0, outer);
    let clique = &child.plan.cliques[index];
    let era = task.execution.era();
    let count = clique.len();
    let options = task.options.clone().unwrap_or_default();
    let inline = task.inline || is_short(child, count);
    // SAFETY: the parent's execution stopped here, and resumes only after all participants have ended; they and
    // `Parent` keep it alive.
    let ParticipantBuffers { inputs, .. } = unsafe { task.execution.buffers() };
    let results = (0..count).map(|_| Vec::new()).collect();
    let parent = Arc::new(Parent(Mutex::new(State { task: Some(task), results, left: count, failure: None })));
    let rendezvous = Rendezvous::new(index as u32, clique, true, &program.runtime.watch);
    let mut ready = Vec::with_capacity(count);
    for index in 0..count {
        let participant = Participant { rendezvous: Arc::clone(&rendezvous), rank: index as u32 };
        let done: Done = {
            let (parent, program) = (Arc::clone(&parent), Arc::clone(&program));
            Box::new(move |outcome| parent.ended(index, outcome, &program.plan.manuals[site as usize]))
        };
        let arguments = manual.operands.iter().enumerate().map(|(operand, shards)| {
            let (whole, Shard { offset }) = (inputs.get::<u8>(operand), shards.shards[index]);
            let place = whole.as_ptr().wrapping_add(offset);
            if shards.pieces.is_one() && shards.bytes > 0 && place.addr().is_multiple_of(BUFFER_ALIGN) {
                let data = NonNull::new(place.cast_mut()).expect("buffers are not null");
                let owner: Box<dyn Any + Send + Sync> = Box::new(Arc::clone(&parent));
                // SAFETY: the parent neither writes nor frees the operand until all participants have ended.
                return unsafe { Buffer::foreign(data, shards.bytes, owner) }.map(Arc::new).map(Argument::Shared);
            }
            let mut part = Buffer::allocate(&program.runtime.allocator, shards.bytes)?;
            shards.pieces.copy(&program.runtime.pool, &[whole], offset, part.as_bytes_mut());
            Ok(Argument::Donated(part))
        });
        let (run_id, process) = (options.run_id.unwrap_or(0), clique.processes(index)[0]);
        let info = execution_info(&options, run_id, process as i32);
        let begun = match arguments.collect::<Result<Vec<_>, Error>>() {
            Ok(arguments) => Execution::begin(Arc::clone(child), arguments, &info, Some(participant), era),
            Err(error) => Err((error, Some(participant))),
        };
        match begun {
            Ok(execution) => {
                ready.push(Task { execution, done, inline, options: Some(options.clone()), failure: None });
            }
            Err((error, participant)) => task::end(Arc::clone(child), participant, Err(error), done, queue),
        }
    }
    task::proceed(Next { ready, failed: Vec::new() }, queue);
}

impl Parent {
    /// Records the end of a participant. After the last one it returns the execution, which then resumes.
    fn ended(&self, index: usize, outcome: Result<Vec<Buffer>, Error>, manual: &ManualSite) -> Option<Task> {
        let mut state = self.0.lock();
        match outcome {
            Ok(buffers) => state.results[index] = buffers,
            Err(error) => _ = state.failure.get_or_insert_with(|| error.clone()),
        }
        state.left -= 1;
        if state.left > 0 {
            return None;
        }
        let mut task = state.task.take()?;
        task.failure = state.failure.take();
        if task.failure.is_none() {
            put_together(&task, manual, &state.results);
        }
        Some(task)
    }
}

/// Assembles the results of a manual computation from the results of its participants.
fn put_together(task: &Task, manual: &ManualSite, results: &[Vec<Buffer>]) {
    // SAFETY: the execution stopped at the manual computation, whose participants have ended; it is borrowed meanwhile.
    let ParticipantBuffers { mut outputs, .. } = unsafe { task.execution.buffers() };
    let pool = &task.execution.program().runtime.pool;
    for (index, whole) in manual.results.iter().enumerate() {
        let sources: Vec<&[u8]> = whole.sources.iter().map(|&rank| results[rank][index].as_bytes()).collect();
        whole.pieces.copy(pool, &sources, 0, outputs.take(index));
    }
}
