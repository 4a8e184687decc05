//! Steps of a plan, and their slots.

use std::sync::Arc;

use super::{Allocation, Loops, ManualSite, Runs, Slot};
use crate::collective::{Clique, CollectiveKernel, Groups};
use crate::plan::{CallSite, Parameter};
use oxcall::descriptor::Stage;
use oxcall_hlo::{Module, ValueId};
use oxcall_kernels::kernel::Kernel;
use oxcall_kernels::memory::Buffer;
use oxcall_kernels::pool::Cost;

/// The slots of a step: `inputs` input slots, then `outputs` output slots, starting at `first` in [`Plan::slots`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args {
    pub(crate) first: u32,
    pub(crate) inputs: u32,
    pub(crate) outputs: u32,
    /// Bit `i`: input `i` shares an output's memory.
    pub(crate) in_place: u64,
}

impl Args {
    /// The input slots and the output slots, from `lists`.
    pub(crate) fn slots(self, lists: &[Slot]) -> (&[Slot], &[Slot]) {
        lists[self.first as usize..][..(self.inputs + self.outputs) as usize].split_at(self.inputs as usize)
    }
}

/// A step of a plan. Targets are indices of steps.
pub(crate) enum Step {
    Kernel {
        kernel: Box<dyn Kernel>,
        args: Args,
        /// The arithmetic operations of one run; for display.
        flops: f64,
    },
    /// The execute handler of a custom call.
    Call {
        site: u32,
        args: Args,
    },
    /// A collective: the execution stops until its group is complete.
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
    /// Each slot takes the next one's place, and the last takes that of the first.
    Rotate(Box<[Slot]>),
    Jump(u32),
    /// Continues with the next step if the `Pred` is true.
    JumpUnless {
        predicate: Slot,
        target: u32,
    },
    /// Jumps to the target with the `S32` as index, or to the last one if that is out of range.
    Branch {
        index: Slot,
        targets: Box<[u32]>,
    },
}

/// A collective of a program.
pub(crate) struct CollectiveSite {
    /// The name of the op, and its source location.
    pub(crate) name: String,
    pub(crate) kernel: Box<dyn CollectiveKernel>,
    /// The groups among the participants of each clique that may run the program.
    pub(crate) groups: Vec<Groups>,
}

/// A compiled program.
pub(crate) struct Plan {
    /// The module from which it was made, after all passes.
    pub(crate) module: Module,
    pub(crate) steps: Vec<Step>,
    /// The lists of slots to which [`Args`] refers.
    pub(crate) slots: Vec<Slot>,
    /// The module's value behind each of them; for display.
    pub(crate) values: Vec<Option<ValueId>>,
    /// The allocation and size of each slot.
    pub(crate) allocations: Vec<(Allocation, usize)>,
    /// The size of the arena, in bytes.
    pub(crate) arena: usize,
    /// The size of each separate allocation, in bytes.
    pub(crate) own: Vec<usize>,
    pub(crate) parameters: Vec<Parameter>,
    /// For each parameter, whether its memory is written or becomes a result's: unless it is donated, a copy is.
    pub(crate) written: Vec<bool>,
    pub(crate) results: Vec<Slot>,
    pub(crate) constants: Vec<Buffer>,
    /// The cliques that may run the program: one, except for bodies of manual computations nested in another's.
    pub(crate) cliques: Vec<Arc<Clique>>,
    pub(crate) collectives: Vec<CollectiveSite>,
    pub(crate) manuals: Vec<ManualSite>,
    pub(crate) calls: Vec<CallSite>,
    /// The call frame of each custom call.
    pub(crate) frame_of: Vec<u32>,
    /// The first custom call of each call frame.
    pub(crate) frames: Vec<u32>,
    pub(crate) cost: Cost,
    /// Loops as machine code.
    pub(crate) loops: Option<Loops>,
    /// Steps that threads share.
    pub(crate) runs: Option<Runs>,
}

impl Plan {
    /// The bytes of all operands and results of a step.
    pub(crate) fn bytes(&self, args: Args) -> usize {
        let (inputs, outputs) = args.slots(&self.slots);
        inputs.iter().chain(outputs).map(|&slot| self.allocations[slot as usize].1).sum()
    }
}
