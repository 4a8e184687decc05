//! The working state of one execution: the table of slots, memory, and call frames.

use oxcall::Error;
use oxcall_kernels::memory::{self, Buffer, NOWHERE, RawBuffer};

use super::Argument;
use crate::custom_call::{CallState, Contexts, ExecutionInfo};
use crate::plan::{Allocation, Args, Plan};
use crate::runtime::Runtime;
use crate::sync::Mutex;

/// The memory and the table of an execution. The program keeps them for its next execution.
pub(crate) struct Frame {
    pub(super) table: Vec<RawBuffer>,
    /// Space for the buffers of one step.
    pub(super) buffers: Vec<RawBuffer>,
    /// The operands and results of the last collective, within `buffers`.
    pub(super) met: Args,
    pub(super) calls: Vec<CallState>,
    pub(super) contexts: Contexts,
    /// Kept between executions if it is small.
    arena: Option<Buffer>,
    own: Vec<Option<Buffer>>,
    /// The ids of the process: replica and partition.
    ids: Box<[Id; 2]>,
    arguments: Vec<Argument>,
}

/// An id of the process, aligned as buffers are.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Id([u32; 16]);

impl Id {
    fn new(id: u32) -> Id {
        let mut all = [0; 16];
        all[0] = id;
        Id(all)
    }
}

/// The size in bytes of the largest arena that stays with the program.
const KEPT_ARENA: usize = 64 * 1024;

impl Frame {
    fn new(plan: &Plan) -> Frame {
        Frame {
            table: Vec::with_capacity(plan.allocations.len()),
            buffers: Vec::new(),
            met: Args { first: 0, inputs: 0, outputs: 0, in_place: 0 },
            calls: plan.frames.iter().map(|&site| plan.calls[site as usize].state()).collect(),
            contexts: Contexts::new(),
            arena: None,
            own: Vec::with_capacity(plan.own.len()),
            ids: Box::new([Id::new(0); 2]),
            arguments: Vec::new(),
        }
    }

    /// Takes the arguments and all memory that the execution needs on the process with these ids.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the arguments do not match the program's parameters, RESOURCE_EXHAUSTED if memory runs out.
    pub(super) fn begin(
        &mut self,
        plan: &Plan,
        arguments: Vec<Argument>,
        runtime: &Runtime,
        info: &ExecutionInfo<'_>,
        ids: [u32; 2],
    ) -> Result<(), Error> {
        let allocator = &runtime.allocator;
        memory::reserve()?;
        check(plan, &arguments)?;
        self.arguments = arguments;
        for (argument, _) in self.arguments.iter_mut().zip(&plan.written).filter(|(_, written)| **written) {
            let given = matches!(argument, Argument::Donated(buffer) if buffer.is_writable());
            if !given {
                *argument = Argument::Donated(Buffer::copy_of(allocator, argument.buffer().as_bytes())?);
            }
        }
        if self.arena.is_none() {
            self.arena = Some(Buffer::allocate(allocator, plan.arena)?);
        }
        *self.ids = ids.map(Id::new);
        let ids = self.ids.as_mut_ptr();
        let arena = self.arena.as_ref().map_or(NOWHERE.as_ptr(), |arena| arena.raw().data);
        self.own.clear();
        for &bytes in &plan.own {
            self.own.push(Some(Buffer::allocate(allocator, bytes)?));
        }
        self.table.clear();
        self.table.extend(plan.allocations.iter().map(|&(allocation, len)| match allocation {
            Allocation::Empty => RawBuffer { data: NOWHERE.as_ptr(), len },
            Allocation::Parameter(index) => self.arguments[index as usize].buffer().raw(),
            Allocation::Constant(index) => plan.constants[index as usize].raw(),
            Allocation::Id(id) => RawBuffer { data: ids.wrapping_add(id as usize).cast(), len },
            Allocation::Arena(offset) => RawBuffer { data: arena.wrapping_add(offset), len },
            Allocation::Own(index) => {
                self.own[index as usize].as_ref().map_or(RawBuffer { data: NOWHERE.as_ptr(), len: 0 }, Buffer::raw)
            }
        }));
        if !plan.calls.is_empty() {
            self.contexts.renew(&runtime.host, &plan.calls, info);
        }
        Ok(())
    }

    /// The results, by the places of their slots at the end.
    pub(super) fn results(&mut self, plan: &Plan) -> Result<Vec<Buffer>, Error> {
        let mut results = Vec::with_capacity(plan.results.len());
        for &slot in &plan.results {
            let place = self.table[slot as usize];
            results.push(match place.len {
                0 => Buffer::empty(),
                _ => self
                    .take(plan.allocations[slot as usize].0, place)
                    .ok_or_else(|| Error::internal("the memory of a result belongs to another buffer"))?,
            });
        }
        Ok(results)
    }

    /// The allocation or argument at `place`: the one of its slot, unless a loop has rotated the slots.
    fn take(&mut self, allocation: Allocation, place: RawBuffer) -> Option<Buffer> {
        let is_there = |buffer: &Buffer| buffer.as_ptr() == place.data.cast_const() && !buffer.is_empty();
        if let Allocation::Own(index) = allocation
            && let Some(buffer) = self.own[index as usize].take_if(|buffer| is_there(buffer))
        {
            return Some(buffer);
        }
        if let Some(buffer) = self.own.iter_mut().find_map(|own| own.take_if(|buffer| is_there(buffer))) {
            return Some(buffer);
        }
        let given = |argument: &Argument| matches!(argument, Argument::Donated(buffer) if is_there(buffer));
        let argument = self.arguments.iter_mut().find(|argument| given(argument))?;
        match std::mem::replace(argument, Argument::Donated(Buffer::empty())) {
            Argument::Donated(buffer) => Some(buffer),
            Argument::Shared(_) => None,
        }
    }

    /// Releases everything that belongs to one execution.
    fn end(&mut self) {
        self.own.clear();
        self.arguments.clear();
        self.contexts.finish();
        if self.arena.as_ref().is_some_and(|arena| arena.len() > KEPT_ARENA) {
            self.arena = None;
        }
    }
}

fn check(plan: &Plan, arguments: &[Argument]) -> Result<(), Error> {
    if arguments.len() != plan.parameters.len() {
        return Err(Error::invalid_argument(format!(
            "the program takes {} arguments, got {}",
            plan.parameters.len(),
            arguments.len()
        )));
    }
    for (index, (argument, parameter)) in arguments.iter().zip(&plan.parameters).enumerate() {
        let len = argument.buffer().len();
        if len != parameter.bytes {
            return Err(Error::invalid_argument(format!(
                "argument {index} takes {} bytes, got {len}",
                parameter.bytes
            )));
        }
    }
    Ok(())
}

/// The unused frames of a program. They are in boxes because an execution, which has one, is moved several times.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "the boxes are taken out")]
pub(crate) struct Frames(Mutex<Vec<Box<Frame>>>);

/// The largest number of frames that a program keeps.
const KEPT_FRAMES: usize = 16;

impl Frames {
    pub(crate) fn take(&self, plan: &Plan) -> Box<Frame> {
        let kept = self.0.lock().pop();
        kept.unwrap_or_else(|| Box::new(Frame::new(plan)))
    }

    pub(crate) fn give_back(&self, mut frame: Box<Frame>) {
        frame.end();
        let mut frames = self.0.lock();
        if frames.len() < KEPT_FRAMES {
            frames.push(frame);
        }
    }
}
