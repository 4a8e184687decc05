//! Running the steps of a plan.

use std::sync::Arc;
use std::time::Instant;

use oxcall::Error;
use oxcall::descriptor::Stage;
use oxcall::host::Future;
use oxcall_jit::Stop;
use oxcall_kernels::environment::set_default_environment;
use oxcall_kernels::interrupt::{Era, interrupted};
use oxcall_kernels::kernel::{Context, Inputs, Kernel, Outputs};
use oxcall_kernels::machine::resume_panic;
use oxcall_kernels::memory::{Buffer, RawBuffer};
use oxcall_kernels::pool::{Cost, Pool};
use smallvec::SmallVec;

use super::rendezvous::Participant;
use super::{Argument, Executable, Frame, traced};
use crate::collective::ParticipantBuffers;
use crate::custom_call::{CallState, ExecutionInfo};
use crate::observe::Span;
use crate::plan::{Args, Loops, Plan, Run, Slot, Step};
use crate::sync::Mutex;

/// An execution of a program. It may stop at an incomplete custom call or collective, and resume later.
pub(crate) struct Execution {
    program: Arc<Executable>,
    frame: Option<Box<Frame>>,
    /// The next step.
    at: usize,
    /// Its place in a rendezvous, if it has one.
    participant: Option<Participant>,
    /// The time of the request: an interrupt after it ends the execution.
    era: Era,
    /// When it began to wait for the step before `at`; for traces.
    waits_since: Option<Instant>,
}

/// How far an execution got.
pub(crate) enum Progress {
    Done(Vec<Buffer>),
    /// It resumes when the future of the custom call with this index completes.
    Waiting(Future, u32),
    /// It resumes when the rest of its group has reached the collective with this index.
    Collective(u32),
    /// It resumes when the participants of the manual computation with this index have ended.
    Manual(u32),
}

impl Execution {
    /// # Errors
    /// INVALID_ARGUMENT if the arguments do not match the program's parameters, RESOURCE_EXHAUSTED if memory runs out.
    pub(crate) fn begin(
        program: Arc<Executable>,
        arguments: Vec<Argument>,
        info: &ExecutionInfo<'_>,
        participant: Option<Participant>,
        era: Era,
    ) -> Result<Execution, (Error, Option<Participant>)> {
        let mut frame = program.frames.take(&program.plan);
        let ids = participant.as_ref().map_or([0; 2], Participant::ids);
        let begun = frame.begin(&program.plan, arguments, &program.runtime, info, ids);
        let mut execution = Execution { program, frame: Some(frame), at: 0, participant, era, waits_since: None };
        match begun {
            Ok(()) => Ok(execution),
            Err(error) => Err((error, execution.participant.take())),
        }
    }

    pub(crate) fn participant(&self) -> Option<&Participant> {
        self.participant.as_ref()
    }

    pub(super) fn era(&self) -> Era {
        self.era
    }

    /// Leaves its rendezvous.
    pub(crate) fn leave(&mut self) -> Option<Participant> {
        self.participant.take()
    }

    /// The buffers of the collective or manual computation at which it stopped.
    ///
    /// # Safety
    /// The execution stopped at such a step. For `'a`, it neither resumes nor is dropped, and nothing else accesses its
    /// buffers.
    pub(crate) unsafe fn buffers<'a>(&self) -> ParticipantBuffers<'a> {
        let frame = self.frame.as_deref().expect("an execution has a frame until it is dropped");
        let (args, buffers) = (frame.met, &frame.buffers);
        let (inputs, outputs) = buffers.split_at(args.inputs as usize);
        // SAFETY: the caller promises that the execution does not resume during `'a`, and the list of buffers changes
        // only at the next step.
        let (inputs, outputs) = unsafe {
            (
                std::slice::from_raw_parts(inputs.as_ptr(), inputs.len()),
                std::slice::from_raw_parts(outputs.as_ptr(), outputs.len()),
            )
        };
        // SAFETY: as for the buffers of kernels, in `Frame::kernel`.
        unsafe { ParticipantBuffers { inputs: Inputs::new(inputs, args.in_place), outputs: Outputs::new(outputs) } }
    }

    pub(crate) fn program(&self) -> &Arc<Executable> {
        &self.program
    }

    /// Runs steps until the end, or until a step is incomplete.
    ///
    /// # Errors
    /// Those of kernels and handlers.
    pub(crate) fn advance(&mut self) -> Result<Progress, Error> {
        if self.program.runtime.trace.is_none() {
            return self.steps::<false>(&mut Vec::new());
        }
        let (mut spans, started) = (Vec::new(), Instant::now());
        if let Some(since) = self.waits_since.take() {
            spans.extend(traced::wait(&self.program, &self.program.plan.steps[self.at - 1], since));
        }
        let progress = self.steps::<true>(&mut spans);
        spans.push(traced::execution(&self.program, started));
        self.waits_since = (!matches!(progress, Ok(Progress::Done(_)))).then(Instant::now);
        if let Some(trace) = &self.program.runtime.trace {
            trace.write(&spans);
        }
        progress
    }

    fn steps<const TRACED: bool>(&mut self, spans: &mut Vec<Span>) -> Result<Progress, Error> {
        let Execution { program, frame, at, era, .. } = self;
        let frame = frame.as_deref_mut().expect("an execution has a frame until it is dropped");
        let plan = &*program.plan;
        let cx = Context { pool: &program.runtime.pool, memory: &program.runtime.allocator, era: *era };
        loop {
            // This also covers the last step: the kernel of a loop may have stopped early.
            if era.is_over() {
                return Err(interrupted(format_args!("the program {}", plan.module.name)));
            }
            if !TRACED
                && let Some(loops) = &plan.loops
                && let Some(&Some(block)) = loops.block_at.get(*at)
            {
                *at = frame.run_loops(loops, block);
                continue;
            }
            if !TRACED && let Some(run) = plan.runs.as_ref().and_then(|runs| runs.starting(*at)) {
                frame.share(run, plan, cx)?;
                *at = run.steps.end;
                continue;
            }
            let Some(step) = plan.steps.get(*at) else { break };
            *at += 1;
            let _span = TRACED.then(|| traced::Open::new(program, step, spans));
            match step {
                Step::Kernel { kernel, args, .. } => frame.kernel(&**kernel, *args, &plan.slots, cx)?,
                Step::Call { site, args } => {
                    if let Some(future) = frame.call(program, *site, Stage::Execute, *args)? {
                        return Ok(Progress::Waiting(future, *site));
                    }
                }
                Step::Collective { site, args } => {
                    frame.gather(*args, &plan.slots);
                    frame.met = *args;
                    return Ok(Progress::Collective(*site));
                }
                Step::Manual { site, args } => {
                    frame.gather(*args, &plan.slots);
                    frame.met = *args;
                    return Ok(Progress::Manual(*site));
                }
                Step::Stage { site, stage, args } => {
                    if let Some(future) = frame.call(program, *site, *stage, *args)? {
                        return Ok(Progress::Waiting(future, *site));
                    }
                }
                Step::Copy { from, to } => frame.copy(*from, *to, cx.pool),
                Step::Rotate(slots) => frame.rotate(slots),
                Step::Jump(target) => *at = *target as usize,
                Step::JumpUnless { predicate, target } => {
                    if !frame.predicate(*predicate) {
                        *at = *target as usize;
                    }
                }
                Step::Branch { index, targets } => *at = frame.branch(*index, targets) as usize,
            }
        }
        frame.results(plan).map(Progress::Done)
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        if let Some(frame) = self.frame.take() {
            self.program.frames.give_back(frame);
        }
    }
}

impl Frame {
    /// The buffers of a step.
    fn gather(&mut self, args: Args, slots: &[Slot]) -> (&[RawBuffer], &[RawBuffer]) {
        let (inputs, outputs) = args.slots(slots);
        self.buffers.clear();
        self.buffers.extend(inputs.iter().chain(outputs).map(|&slot| self.table[slot as usize]));
        self.buffers.split_at(inputs.len())
    }

    fn kernel(&mut self, kernel: &dyn Kernel, args: Args, slots: &[Slot], cx: Context<'_>) -> Result<(), Error> {
        let (inputs, outputs) = self.gather(args, slots);
        // SAFETY: every table entry points to memory that the frame, the plan or the arguments own. It has the size and
        // alignment of its buffer, and is initialised, as all memory of the allocator is. The plan gives an output no
        // buffer that is in use, unless the kernel may work in place, which the bits say. Nothing else writes memory
        // that the frame owns or the caller donated, and nothing writes shared memory.
        let (inputs, outputs) = unsafe { (Inputs::new(inputs, args.in_place), Outputs::new(outputs)) };
        kernel.run(cx, inputs, outputs).map_err(|error| error.context(kernel.name()))
    }

    /// Runs the pieces of a run, several at a time.
    fn share(&self, run: &Run, plan: &Plan, cx: Context<'_>) -> Result<(), Error> {
        let (failure, table) = (Mutex::new(None), &self.table);
        let step = |step: u32| {
            let Step::Kernel { kernel, args, .. } = &plan.steps[step as usize] else { return Ok(()) };
            let (inputs, outputs) = args.slots(&plan.slots);
            let buffer = |&slot: &Slot| table[slot as usize];
            let inputs: SmallVec<[RawBuffer; 8]> = inputs.iter().map(buffer).collect();
            let outputs: SmallVec<[RawBuffer; 4]> = outputs.iter().map(buffer).collect();
            // SAFETY: as in `kernel`; and no other piece of the run writes what a step uses, or uses what it writes.
            let (inputs, outputs) = unsafe { (Inputs::new(&inputs, args.in_place), Outputs::new(&outputs)) };
            kernel.run(cx, inputs, outputs).map_err(|error| error.context(kernel.name()))
        };
        cx.pool.for_each(run.cost, run.pieces.iter().collect(), |piece| {
            if let Err(error) = piece.iter().try_for_each(|&at| step(at)) {
                failure.lock().get_or_insert(error);
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }

    fn call(&mut self, program: &Executable, site: u32, stage: Stage, args: Args) -> Result<Option<Future>, Error> {
        let outcome = self.handle(program, site, stage, args);
        // A handler may change the environment, and the next step needs the default.
        set_default_environment();
        outcome
    }

    fn handle(&mut self, program: &Executable, site: u32, stage: Stage, args: Args) -> Result<Option<Future>, Error> {
        let plan = &program.plan;
        let frame = plan.frame_of[site as usize] as usize;
        if let (Stage::Execute, CallState::Typed(state)) = (stage, &mut self.calls[frame]) {
            let data = |&slot: &Slot| self.table[slot as usize].data;
            let (inputs, outputs) = args.slots(&plan.slots);
            // SAFETY: as below.
            let outcome =
                unsafe { state.execute(self.contexts.of(site), inputs.iter().map(data), outputs.iter().map(data)) };
            return outcome.map_err(|error| plan.calls[site as usize].explain(error));
        }
        self.gather(args, &plan.slots);
        let Frame { buffers, calls, contexts, .. } = self;
        let (inputs, outputs) = buffers.split_at(args.inputs as usize);
        let call = &plan.calls[site as usize];
        // SAFETY: the buffers are as for kernels; an output shares memory with an input only where the program says so.
        // The frame lives until the call completes: an execution that waits for a future is kept.
        unsafe { call.run(&mut calls[frame], contexts, site, stage, inputs, outputs) }
    }

    /// Runs machine code from a block on, and returns the step that is next.
    ///
    /// # Panics
    /// If a function that the code calls does.
    fn run_loops(&mut self, loops: &Loops, block: u32) -> usize {
        /// The number of iterations after which an interrupt is noticed.
        const TURNS: i64 = 1000;
        let mut fuel = TURNS;
        // SAFETY: the table has the slots of the plan for which the code was made. As for kernels, each points to
        // memory that belongs to its buffer; indices were clamped to it, and rotated slots have buffers of one size.
        let stop = unsafe { loops.routine.run(self.table.as_mut_ptr().cast(), block, &mut fuel) };
        resume_panic();
        match stop {
            Stop::Exit(step) => step as usize,
            Stop::OutOfFuel(block) => loops.starts[block as usize] as usize,
        }
    }

    fn copy(&mut self, from: Slot, to: Slot, pool: &Pool) {
        let (from, to) = (self.table[from as usize], self.table[to as usize]);
        // SAFETY: two buffers of equal size that do not overlap and hold initialised bytes; the frame may write `to`.
        let (from, to) =
            unsafe { (std::slice::from_raw_parts(from.data, to.len), std::slice::from_raw_parts_mut(to.data, to.len)) };
        let cost = Cost { flops: 0.0, bytes: 2.0 * from.len() as f64 };
        pool.for_chunks(cost, to, 64, |first, to| to.copy_from_slice(&from[first..][..to.len()]));
    }

    fn rotate(&mut self, slots: &[Slot]) {
        let first = self.table[slots[0] as usize];
        for pair in slots.windows(2) {
            self.table[pair[0] as usize] = self.table[pair[1] as usize];
        }
        self.table[slots[slots.len() - 1] as usize] = first;
    }

    fn predicate(&self, slot: Slot) -> bool {
        // SAFETY: a `Pred`, written by a step or passed as an argument.
        unsafe { self.table[slot as usize].data.read() != 0 }
    }

    fn branch(&self, slot: Slot, targets: &[u32]) -> u32 {
        // SAFETY: an `S32`, written by a step or passed as an argument; buffers are aligned.
        let index = unsafe { self.table[slot as usize].data.cast::<i32>().read() };
        let last = targets.len() - 1;
        targets[usize::try_from(index).map_or(last, |index| index.min(last))]
    }
}
