//! Steps of a plan, and their slots.

use std::sync::Arc;

use super::{Allocation, ManualSite};
use crate::collective::{Clique, CollectiveKernel, Groups};
use crate::kernel::Kernel;
use crate::memory::Buffer;
use crate::plan::{CallSite, Parameter};
use crate::pool::Cost;
use oxcall::descriptor::Stage;
use oxcall_hlo::{Module, ValueId};

/// An index into the table of an execution.
pub(crate) type Slot = u32;

/// The slots of a step: `inputs` of them, then `outputs`, from `first` on in [`Plan::slots`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args {
    pub(crate) first: u32,
    pub(crate) inputs: u32,
    pub(crate) outputs: u32,
    /// Bit `i`: input `i` is in an output's memory.
    pub(crate) in_place: u64,
}

impl Args {
    /// The slots of the inputs and of the outputs, of all lists.
    pub(crate) fn slots(self, lists: &[Slot]) -> (&[Slot], &[Slot]) {
        lists[self.first as usize..][..(self.inputs + self.outputs) as usize].split_at(self.inputs as usize)
    }
}

/// A step of a plan. Targets are indices of steps.
pub(crate) enum Step {
    Kernel {
        kernel: Box<dyn Kernel>,
        args: Args,
    },
    /// The execute handler of a custom call.
    Call {
        site: u32,
        args: Args,
    },
    /// A collective: the execution stops until its group is there.
    Collective {
        site: u32,
        args: Args,
    },
    /// A manual computation: the execution stops until its participants have ended.
    Manual {
        site: u32,
        args: Args,
    },
    /// An earlier stage of a custom call.
    Stage {
        site: u32,
        stage: Stage,
        args: Args,
    },
    Copy {
        from: Slot,
        to: Slot,
    },
    /// Each slot takes the place of the next one, and the last that of the first.
    Rotate(Box<[Slot]>),
    Jump(u32),
    /// Goes on here if the `Pred` is true.
    JumpUnless {
        predicate: Slot,
        target: u32,
    },
    /// Goes to the target of the `S32`, to the last one if that is out of range.
    Branch {
        index: Slot,
        targets: Box<[u32]>,
    },
}

/// A collective as a program has it.
pub(crate) struct CollectiveSite {
    /// The name of the op, and where it is in the source.
    pub(crate) name: String,
    pub(crate) kernel: Box<dyn CollectiveKernel>,
    /// The groups among the participants of each clique that may run the program.
    pub(crate) groups: Vec<Groups>,
}

/// A compiled program.
pub(crate) struct Plan {
    /// The module that it is of, after all passes.
    pub(crate) module: Module,
    pub(crate) steps: Vec<Step>,
    /// Lists of slots that [`Args`] refer to.
    pub(crate) slots: Vec<Slot>,
    /// For each of them, the value of the module that is meant; for people.
    pub(crate) values: Vec<Option<ValueId>>,
    /// The allocation and size of each slot.
    pub(crate) allocations: Vec<(Allocation, usize)>,
    /// The bytes of the arena.
    pub(crate) arena: usize,
    /// The bytes of each allocation of its own.
    pub(crate) own: Vec<usize>,
    pub(crate) parameters: Vec<Parameter>,
    /// Whether parameter `i` is written, if the caller gave it up: then it must be.
    pub(crate) written: Vec<bool>,
    pub(crate) results: Vec<Slot>,
    pub(crate) constants: Vec<Buffer>,
    /// The cliques that may run the program: one, but for bodies of manual computations that are in another's.
    pub(crate) cliques: Vec<Arc<Clique>>,
    pub(crate) collectives: Vec<CollectiveSite>,
    pub(crate) manuals: Vec<ManualSite>,
    pub(crate) calls: Vec<CallSite>,
    /// The call frame of each call.
    pub(crate) frame_of: Vec<u32>,
    /// For each call frame, the first call that it is for.
    pub(crate) frames: Vec<u32>,
    pub(crate) cost: Cost,
}
