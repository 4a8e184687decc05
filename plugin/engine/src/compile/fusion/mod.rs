//! Fusion: the choice of ops that one program computes together.
//!
//! Ops are taken from last to first. An element-wise op joins a fusion that uses its result if no op outside lies
//! between them, and other fusions that use it join that one; otherwise it starts a fusion. Ops that cost little to
//! repeat (constants, iota, broadcasts, sums and products of a value that is in memory anyway) belong to each fusion
//! that uses them, and so do slices, pads and concatenations of such values. A gather of single elements by one index
//! each is element-wise in its indices; its array is not computed in the same fusion. Reshapes are other names of the
//! same elements. Finally, reductions of rows join the fusions around them, other reductions the fusion of their
//! operand, stacks the fusion of their parts, scatters the broadcast of their only update, and
//! `argmax` the `iota` of its indices.

mod copies;
mod emit;
mod extremes;
mod graph;
mod groups;
mod line;
#[cfg(test)]
mod random_tests;
mod rows;
#[cfg(test)]
mod rows_tests;
mod scatters;
mod slabs;
mod stacks;
#[cfg(test)]
mod tests;
mod updates;
mod views;

use std::ops::Deref;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind, Region, TensorType, ValueId};
use oxcall_kernels::kernel::Kernel;
use oxcall_kernels::tile::Program;

use self::graph::Graph;
use self::groups::{GroupId, Groups};
use self::rows::Unit;
pub(in crate::compile) use self::slabs::SMALLEST_SLAB;
use crate::runtime::Codegen;

/// Ops that run as one kernel.
///
/// An op of the region has to run alone if one of its results is used by an op outside all fusions, is among the
/// `inputs` of a fusion or is a result of the region, and is not among the `outputs` of any fusion.
pub(crate) struct Fusion {
    /// The ops, by index in the region, ascending. A cheap op may be in several fusions.
    pub ops: Vec<usize>,
    /// The operands of the kernel, each once.
    pub inputs: Vec<ValueId>,
    /// The results of the kernel.
    pub outputs: Vec<ValueId>,
    /// The kernel.
    pub kernel: FusedKernel,
}

/// The kernel of a fusion.
pub(crate) enum FusedKernel {
    /// A tile program: without reductions, or of rows.
    Program(Box<Program>),
    /// Another.
    Other(Box<dyn Kernel>),
}

impl Deref for FusedKernel {
    type Target = dyn Kernel;

    fn deref(&self) -> &(dyn Kernel + 'static) {
        match self {
            FusedKernel::Program(program) => &**program,
            FusedKernel::Other(kernel) => &**kernel,
        }
    }
}

impl FusedKernel {
    /// The kernel, whichever it is.
    pub(crate) fn boxed(self) -> Box<dyn Kernel> {
        match self {
            FusedKernel::Program(program) => program,
            FusedKernel::Other(kernel) => kernel,
        }
    }
}

/// Fusions of the element-wise ops of a region. Contracted to one op each, they leave the region free of cycles. Their
/// kernels are machine code where `codegen` says so and that is possible; `in_loop` says that the region is in a loop,
/// which may become machine code as a whole.
///
/// # Errors
/// INTERNAL if the region is not verified.
pub(crate) fn fuse(func: &Func, region: &Region, codegen: Codegen, in_loop: bool) -> Result<Vec<Fusion>, Error> {
    let graph = Graph::new(func, region);
    let mut fuser = Fuser { graph: &graph, groups: Groups::new(&graph), counts: Vec::new() };
    for op in (0..region.ops.len()).rev() {
        fuser.place(op);
    }
    region.ops.iter().for_each(|op| fuser.join_parts(op));
    let Fuser { mut groups, counts, .. } = fuser;
    let in_loop = in_loop && codegen != Codegen::Off;
    let mut units = rows::merge(&graph, &mut groups, &counts, in_loop);
    slabs::merge(&graph, &mut groups, &mut units);
    stacks::merge(&graph, &mut groups, &mut units);
    updates::merge(&graph, &mut groups, &mut units);
    let shared = emit::Shared { graph: &graph, groups: &groups, codegen, in_loop };
    let mut found = scatters::fuse(&graph, &groups)?;
    found.extend(extremes::fuse(&graph, &groups)?);
    found.extend(copies::fuse(&graph, &groups)?);
    for unit in units.into_iter().filter(|unit| !unit.parts.is_empty()) {
        let Unit { ops, count, row, slabs, parts } = unit;
        let is_combined = row > 1 || ops.iter().any(|&op| updates::Update::is_of_kind(&region.ops[op]));
        match emit::fusion(&shared, ops, count, row, slabs) {
            Ok(fusion) => found.push(fusion),
            // Results of row reductions are not used row by row, or an array is read whose small part is updated: fuse
            // each part separately.
            Err(_) if is_combined => {
                for ops in parts {
                    let count = graph.tensor(region.ops[ops[0]].results[0]).map_or(0, TensorType::count);
                    found.push(emit::fusion(&shared, ops, count, 1, None)?);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The largest number of ops in one fusion, so that compilation takes linear time and programs fit the caches.
pub(super) const MOST_OPS: usize = 192;

/// The largest number of ops of two fusions that become one because they share a value.
const MOST_JOINED: usize = 64;

/// The fewest elements of values that are worth sharing: smaller ones are in a cache, and in loops in registers. Tests
/// have fewer.
const LARGE: usize = if cfg!(test) { 64 } else { 4096 };

struct Fuser<'a> {
    graph: &'a Graph<'a>,
    groups: Groups<'a>,
    /// The number of elements of each group.
    counts: Vec<usize>,
}

impl Fuser<'_> {
    /// Finds a place for an op, after all later ops have theirs.
    fn place(&mut self, index: usize) {
        let op = &self.graph.region.ops[index];
        let Some(count) = self.graph.fusable(op) else { return };
        let mut candidates: Vec<GroupId> = Vec::new();
        for &user in &self.graph.users[index] {
            for group in self.groups.of(user) {
                if self.counts[group.index()] == count && !candidates.contains(&group) {
                    candidates.push(group);
                }
            }
        }
        candidates.retain(|&group| {
            let ops = self.groups.ops(group);
            ops.len() < MOST_OPS && !ops.iter().any(|&user| self.graph.needs_whole(user, index))
        });
        let is_cheap = || {
            let is_there = |&user: &usize| self.groups.of(user).any(|group| candidates.contains(&group));
            candidates.len() > 1
                && !self.graph.is_used_outside(index, |user| is_there(&user))
                && self.graph.is_cheap(op)
        };
        if !candidates.is_empty() && (self.graph.is_repeatable(op) || is_cheap()) {
            return candidates.into_iter().for_each(|group| self.groups.copy(index, group));
        }
        let Some(joined) = candidates.iter().copied().find(|&group| self.groups.join(index, group)) else {
            self.groups.start(index);
            self.counts.push(count);
            return;
        };
        if count < LARGE {
            return;
        }
        // Others would read the result, and perhaps what the op reads, from memory.
        candidates.into_iter().filter(|&other| other != joined).for_each(|other| self.merge(joined, other));
    }

    fn merge(&mut self, group: GroupId, other: GroupId) {
        let ops = self.groups.ops(group).len() + self.groups.ops(other).len();
        if ops <= MOST_JOINED && self.groups.merge(group, other) {
            self.counts[other.index()] = 0;
        }
    }

    /// Makes the parts of a stack one fusion, such as the components of vectors: most read the same values.
    fn join_parts(&mut self, op: &Op) {
        let (OpKind::Concatenate { .. }, Some(&result)) = (&op.kind, op.results.first()) else { return };
        if views::of(self.graph, result).is_some() {
            return;
        }
        let mut first = None;
        for &part in &op.operands {
            let Some(producer) = self.graph.producer(self.graph.root(part)) else { continue };
            let is_own = self.graph.users[producer].len() == 1 && !self.groups.is_copied(producer);
            let Some(group) = self.groups.of(producer).next().filter(|_| is_own) else { continue };
            match first {
                _ if self.counts[group.index()] < LARGE => {}
                None => first = Some(group),
                Some(first) if first != group && self.counts[first.index()] == self.counts[group.index()] => {
                    self.merge(first, group);
                }
                Some(_) => {}
            }
        }
    }
}
