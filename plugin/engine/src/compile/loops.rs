//! The loops of a plan as machine code.
//!
//! A loop's steps become blocks. A block begins at each target of a jump, and after each step without machine code:
//! there the code returns, and the plan's own step runs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use oxcall_jit::{Block as Code, End, Isa, Region, Routine, Target, Width};
use oxcall_kernels::machine::{Block, Copy, Kept, Slots};

use super::slots::slots;
use crate::plan::{Allocation, Loops, Slot, Step};
use crate::runtime::Codegen;

/// The most blocks for which code is generated.
const MOST_BLOCKS: usize = 500;

/// The most operations of all blocks, also of those that nothing uses, so that compilation takes little time.
const MOST_OPS: usize = 60_000;

/// The steps of a plan, with what belongs to them.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    pub(super) steps: &'a [Step],
    /// The lists of slots to which steps refer.
    pub(super) lists: &'a [Slot],
    pub(super) allocations: &'a [(Allocation, usize)],
}

/// Compiles the loops; returns `None` if the plan has no loops, if none of their steps can be compiled, or if the
/// system refuses generated code.
pub(super) fn compile<'c>(
    plan: Steps<'_>,
    constant: impl Fn(u32) -> &'c [u8],
    isa: Isa,
    codegen: Codegen,
) -> Option<Loops> {
    let ranges = ranges(plan.steps);
    if ranges.is_empty() {
        return None;
    }
    let slots = slots(plan.steps, plan.allocations, constant);
    let mut builder = Builder {
        plan,
        slots: &slots,
        isa,
        codegen,
        places: BTreeMap::new(),
        blocks: Vec::new(),
        left: HashSet::new(),
        ops: 0,
    };
    ranges.iter().try_for_each(|range| builder.range(range.clone()))?;
    let Builder { blocks, places, left, .. } = builder;
    if !blocks.iter().any(|block| block.has_kernel) {
        return None;
    }
    // So far, blocks are known by their first steps.
    let link = |target: Target| match target {
        Target::Exit(step) => places.get(&(step as usize)).map_or(target, |&block| Target::Block(block)),
        Target::Block(_) => target,
    };
    let (mut kept, mut called) = (Vec::new(), Vec::new());
    let blocks = blocks.into_iter().map(|block| {
        kept.extend(block.kept);
        called.extend(block.used);
        Code::new(block.lanes, block.end.map(link))
    });
    let region = Region { blocks: blocks.collect() };
    let mut is_inside = vec![false; plan.steps.len()];
    ranges.into_iter().for_each(|range| is_inside[range].fill(true));
    let mut used = slots_of(plan, |step| !is_inside[step] || left.contains(&step));
    used.extend(called);
    let is_kept = |slot: u16| {
        let slot = Slot::from(slot);
        !matches!(plan.allocations[slot as usize].0, Allocation::Arena(_)) || used.contains(&slot)
    };
    let routine = Routine::compile_for(&region.without_dead_writes(is_kept), isa)?;
    let starts: Vec<u32> = {
        let mut starts = vec![0; places.len()];
        places.iter().for_each(|(&step, &block)| starts[block as usize] = step as u32);
        starts
    };
    let mut block_at = vec![None; plan.steps.len()];
    places.iter().for_each(|(&step, &block)| block_at[step] = Some(block));
    let covers = (0..plan.steps.len()).map(|step| is_inside[step] && !left.contains(&step)).collect();
    Some(Loops { routine, block_at, starts, covers, kept })
}

/// The outermost loops: ranges of steps that end with a jump back to their start.
fn ranges(steps: &[Step]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        if let &Step::Jump(target) = step
            && target as usize <= index
        {
            ranges.retain(|range| range.start < target as usize);
            ranges.push(target as usize..index + 1);
        }
    }
    ranges
}

/// The slots that the chosen steps use.
fn slots_of(plan: Steps<'_>, is_chosen: impl Fn(usize) -> bool) -> HashSet<Slot> {
    let mut used = HashSet::new();
    for (index, step) in plan.steps.iter().enumerate() {
        if !is_chosen(index) {
            continue;
        }
        match step {
            Step::Kernel { args, .. }
            | Step::Call { args, .. }
            | Step::Collective { args, .. }
            | Step::Manual { args, .. }
            | Step::Stage { args, .. } => {
                let (inputs, outputs) = args.slots(plan.lists);
                used.extend(inputs.iter().chain(outputs).copied());
            }
            Step::Copy { from, to } => used.extend([*from, *to]),
            Step::JumpUnless { predicate: slot, .. } | Step::Branch { index: slot, .. } => {
                used.insert(*slot);
            }
            Step::Rotate(slots) => used.extend(slots.iter().copied()),
            Step::Jump(_) => {}
        }
    }
    used
}

/// A block whose targets are indices of steps.
struct Unlinked {
    lanes: oxcall_jit::Builder,
    end: End,
    kept: Vec<Kept>,
    /// The slots that called kernels use, and those whose addresses rotate.
    used: Vec<Slot>,
    has_kernel: bool,
}

struct Builder<'a> {
    plan: Steps<'a>,
    slots: &'a Slots,
    isa: Isa,
    codegen: Codegen,
    /// The block that begins at each step.
    places: BTreeMap<usize, u32>,
    blocks: Vec<Unlinked>,
    /// The steps that cannot be compiled.
    left: HashSet<usize>,
    /// The number of operations so far.
    ops: usize,
}

impl<'a> Builder<'a> {
    /// The blocks of a loop; `None` if there are too many of them.
    fn range(&mut self, range: Range<usize>) -> Option<()> {
        let targets = self.targets(range.clone());
        let mut at = range.start;
        while at < range.end {
            match self.block(at, range.end, &targets) {
                Some((block, next)) => {
                    self.ops += block.lanes.size();
                    if self.ops > MOST_OPS || self.blocks.len() == MOST_BLOCKS {
                        return None;
                    }
                    self.places.insert(at, self.blocks.len() as u32);
                    self.blocks.push(block);
                    at = next;
                }
                None => {
                    self.left.insert(at);
                    at += 1;
                }
            }
        }
        Some(())
    }

    /// The steps of a range to which others jump.
    fn targets(&self, range: Range<usize>) -> BTreeSet<usize> {
        let mut targets = BTreeSet::new();
        for step in &self.plan.steps[range] {
            match step {
                Step::Jump(target) | Step::JumpUnless { target, .. } => {
                    targets.insert(*target as usize);
                }
                Step::Branch { targets: all, .. } => targets.extend(all.iter().map(|&target| target as usize)),
                _ => {}
            }
        }
        targets
    }

    /// The block from `first` on, and the step after it; `None` if the first step has no machine code.
    fn block(&self, first: usize, end: usize, targets: &BTreeSet<usize>) -> Option<(Unlinked, usize)> {
        [true, false].into_iter().find_map(|decides| self.block_to(first, end, targets, decides))
    }

    /// The same. If `decides` is set, a block that ends an iteration continues with the steps from the start of the
    /// loop to its exit, which decide whether another iteration follows; `None` if one of these has no machine code.
    fn block_to(
        &self,
        first: usize,
        end: usize,
        targets: &BTreeSet<usize>,
        decides: bool,
    ) -> Option<(Unlinked, usize)> {
        let mut block = Block::new(self.isa, self.codegen == Codegen::Listed, self.slots);
        let mut has_kernel = false;
        let mut at = first;
        // The jump back, and the start of the loop, once the block goes on there.
        let mut back: Option<(usize, usize)> = None;
        let exit = |step: usize| Target::Exit(step as u32);
        let end = loop {
            let start = back.map_or(first, |(_, start)| start);
            if at == end || at > start && (targets.contains(&at) || block.is_full()) {
                break End::Jump(exit(at));
            }
            block.lanes.enter(|| format!("step {at}"));
            match &self.plan.steps[at] {
                Step::Jump(target) if decides && back.is_none() && *target as usize <= at => {
                    back = Some((at, *target as usize));
                    at = *target as usize;
                }
                Step::Jump(target) => break End::Jump(Target::Exit(*target)),
                Step::JumpUnless { predicate, target } => {
                    let value = block.read(*predicate, 0, 1, Width::Byte)?;
                    break End::Choose(value, [exit(at + 1), Target::Exit(*target)]);
                }
                Step::Branch { index, targets } => {
                    let value = block.read(*index, 0, 1, Width::Word)?;
                    break End::Table(value, targets.iter().map(|&target| Target::Exit(target)).collect());
                }
                step => {
                    if self.step(step, &mut block).is_none() {
                        if at == first {
                            return None;
                        }
                        break End::Jump(exit(at));
                    }
                    has_kernel |= matches!(step, Step::Kernel { .. });
                    at += 1;
                }
            }
        };
        let next = match (back, &end) {
            // Steps may read what only those before them have in registers, so none of them is left to others.
            (Some(_), End::Jump(_) | End::Table(..)) => return None,
            (Some((jump, _)), End::Choose(..)) => jump + 1,
            (None, End::Jump(Target::Exit(step))) if *step as usize == at => at,
            _ => at + 1,
        };
        Some((Unlinked { lanes: block.lanes, end, kept: block.kept, used: block.used, has_kernel }, next))
    }

    /// Adds a step to a block; `None`, and no write, if it has no machine code.
    fn step(&self, step: &Step, block: &mut Block<'_>) -> Option<()> {
        match step {
            Step::Kernel { kernel, args, .. } => {
                let (inputs, outputs) = args.slots(self.plan.lists);
                kernel.generate(block, inputs, outputs)
            }
            &Step::Copy { from, to } => {
                let bytes = self.slots.get(to).bytes;
                let width = if bytes.is_multiple_of(4) { 4 } else { 1 };
                block.copy((from, None), (to, None), &[Copy { from: 0, to: 0, bytes, width }])
            }
            Step::Rotate(slots) => block.rotate(slots),
            _ => None,
        }
    }
}
