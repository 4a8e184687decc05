//! Producers and users of the values of a region.

use std::collections::HashMap;

use oxcall_hlo::{BinaryOp, ElementType, Func, Op, OpKind, Region, TensorType, UnaryOp, ValueId};
use oxcall_kernels::math;
use oxcall_kernels::tile::MOST_ELEMENTS;

use super::LARGE;
use crate::compile::passes::flat::{FEWEST_PICKED, can_be_picked};
use crate::compile::passes::ir::has_effect;

/// The elements of a row, and the number of rows, up to which and from which it is copied if it is cut, and the most
/// elements of a part that makes it so.
const SHORT_ROW: usize = if cfg!(test) { 64 } else { 192 };
const MANY_ROWS: usize = 16;
const TINY: usize = 8;

/// The number of users, and the most bytes, of an array whose longer rows are copied, too, and the elements of these.
/// An array of at most `CACHED_BY_ALL` is in a cache that all cores share.
const MANY_USERS: usize = 3;
const CACHED: usize = 1 << 20;
const CACHED_BY_ALL: usize = 8 << 20;
const SHORT_SHARED_ROW: usize = if cfg!(test) { 64 } else { 640 };

const _: () = assert!(cfg!(test) || FEWEST_PICKED > MOST_ELEMENTS, "no gather is in a small program of a loop");

/// The most ops in a chain that are computed twice.
const DEEPEST: usize = 3;

/// The producers and users of values.
pub(super) struct Graph<'a> {
    pub(super) func: &'a Func,
    pub(super) region: &'a Region,
    /// The op that produces each value of the region.
    producers: HashMap<ValueId, usize>,
    /// The ops that use results of each op, seen through reshapes, and those that have to come after it.
    pub(super) users: Vec<Vec<usize>>,
    /// Whether results of each op are results of the region, perhaps reshaped.
    escapes: Vec<bool>,
    /// Whether each op [selects](Graph::selects) elements, and all its users are element-wise ops or do the same.
    views: Vec<bool>,
    /// Whether each op is a large copy of the elements that it selects, and not a view.
    copies: Vec<bool>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(func: &'a Func, region: &'a Region) -> Graph<'a> {
        let mut producers = HashMap::new();
        for (index, op) in region.ops.iter().enumerate() {
            producers.extend(op.results.iter().map(|&result| (result, index)));
        }
        let count = region.ops.len();
        let users = vec![Vec::new(); count];
        let [escapes, views, copies] = [(); 3].map(|()| vec![false; count]);
        let mut graph = Graph { func, region, producers, users, escapes, views, copies };
        for (index, op) in region.ops.iter().enumerate() {
            if graph.is_reshape(op) {
                continue;
            }
            let captures = Region::free_values(&op.regions);
            for value in op.operands.iter().copied().chain(captures) {
                if let Some(producer) = graph.producer(graph.root(value))
                    && graph.users[producer].last() != Some(&index)
                {
                    graph.users[producer].push(index);
                }
            }
        }
        let with_effect: Vec<usize> = (0..count).filter(|&index| has_effect(&region.ops[index])).collect();
        for pair in with_effect.windows(2) {
            graph.users[pair[0]].push(pair[1]);
        }
        for &result in &region.results {
            if let Some(producer) = graph.producer(graph.root(result)) {
                graph.escapes[producer] = true;
            }
        }
        for index in (0..count).rev() {
            let is_read =
                |&user: &usize| graph.views[user] || graph.copies[user] || graph.fusable(&region.ops[user]).is_some();
            let (is_inside, selects) = (!graph.escapes[index] && !graph.users[index].is_empty(), graph.selects(index));
            graph.views[index] = selects && is_inside && graph.users[index].iter().all(is_read);
            graph.copies[index] = selects && !graph.views[index] && graph.is_large_copy(&region.ops[index]);
        }
        graph
    }

    /// Whether the op is a slice, pad, concatenation or broadcast whose result consists of boxes of its operands'
    /// elements.
    fn selects(&self, index: usize) -> bool {
        let op = &self.region.ops[index];
        // After this check, no product of dimensions overflows.
        let is_empty = |&value: &ValueId| self.tensor(value).and_then(TensorType::checked_count).is_none_or(|n| n == 0);
        if op.results.iter().any(is_empty) {
            return false;
        }
        match &op.kind {
            OpKind::Slice { .. } => true,
            OpKind::Concatenate { .. } => !self.cuts_rows(index),
            OpKind::BroadcastInDim { dims } => dims.windows(2).all(|pair| pair[0] < pair[1]),
            OpKind::Pad { low, high, interior } => {
                let is_around = low.iter().chain(high).all(|&edge| edge >= 0);
                is_around && interior.iter().all(|&interior| interior == 0) && !self.cuts_rows(index)
            }
            _ => false,
        }
    }

    /// Whether an op that [selects](Graph::selects) elements writes a large array; broadcasts do not count.
    fn is_large_copy(&self, op: &Op) -> bool {
        let is_large = || self.tensor(op.results[0]).is_some_and(|ty| ty.count() >= LARGE);
        !matches!(op.kind, OpKind::BroadcastInDim { .. }) && is_large()
    }

    /// Whether a concatenation or padding along a dimension cuts short rows, such as a roll: each part of a row would
    /// be a call of the code of a fusion for each user, which takes longer than to copy the row.
    fn cuts_rows(&self, index: usize) -> bool {
        let op = &self.region.ops[index];
        let Some(ty) = self.tensor(op.results[0]) else { return false };
        let part = |dim: usize, size: usize| size * ty.dims[dim + 1..].iter().product::<usize>();
        // Tiny parts that differ from row to row, such as edges that repeat, would be copied for each user anyway.
        let mut is_copied = false;
        let (dim, has_tiny_part) = match &op.kind {
            &OpKind::Concatenate { dim } => {
                let is_tiny = |value: &&ValueId| self.tensor(**value).is_some_and(|ty| part(dim, ty.dims[dim]) <= TINY);
                let is_constant = |value: &ValueId| {
                    let producer = self.producer(self.root(*value)).map(|index| &self.region.ops[index].kind);
                    matches!(producer, Some(OpKind::Constant(_)))
                };
                is_copied = op.operands.iter().filter(is_tiny).any(|value| !is_constant(value));
                (dim, op.operands.iter().any(|value| is_tiny(&value)))
            }
            OpKind::Pad { low, high, .. } => {
                let Some(dim) = (0..ty.rank()).rev().find(|&dim| low[dim] + high[dim] > 0) else { return false };
                let is_tiny = |edge: i64| edge > 0 && part(dim, edge as usize) <= TINY;
                (dim, is_tiny(low[dim]) || is_tiny(high[dim]))
            }
            _ => return false,
        };
        let rows = ty.dims[..dim].iter().product::<usize>();
        let most_bytes = if is_copied { CACHED_BY_ALL } else { CACHED };
        let is_shared = self.users[index].len() >= MANY_USERS && ty.byte_size() <= most_bytes;
        let shortest = if is_shared { SHORT_SHARED_ROW } else { SHORT_ROW };
        has_tiny_part && rows >= MANY_ROWS && part(dim, ty.dims[dim]) < shortest
    }

    /// Whether an op is a large copy of the elements that it [selects](Graph::selects), and not a view.
    pub(super) fn copies(&self, index: usize) -> bool {
        self.copies[index]
    }

    /// Whether `value` is the result of such an op.
    pub(super) fn is_view(&self, value: ValueId) -> bool {
        self.producer(value).is_some_and(|producer| self.views[producer])
    }

    /// The op of this region that produces `value`.
    pub(super) fn producer(&self, value: ValueId) -> Option<usize> {
        self.producers.get(&value).copied()
    }

    /// The value that `value` is a reshape of.
    pub(super) fn root(&self, mut value: ValueId) -> ValueId {
        while let Some(producer) = self.producer(value)
            && self.is_reshape(&self.region.ops[producer])
        {
            value = self.region.ops[producer].operands[0];
        }
        value
    }

    /// Whether the result has the operand's elements in the same order.
    fn is_reshape(&self, op: &Op) -> bool {
        match &op.kind {
            OpKind::Reshape => true,
            OpKind::BroadcastInDim { dims } => match (self.tensor(op.operands[0]), self.tensor(op.results[0])) {
                (Some(from), Some(to)) => {
                    from.checked_count() == to.checked_count() && dims.windows(2).all(|pair| pair[0] < pair[1])
                }
                _ => false,
            },
            _ => false,
        }
    }

    pub(super) fn tensor(&self, value: ValueId) -> Option<&'a TensorType> {
        self.func.ty(value).tensor()
    }

    /// Whether ops outside the fusion with these members use results of `op`.
    pub(super) fn is_used_outside(&self, op: usize, is_member: impl Fn(usize) -> bool) -> bool {
        self.escapes[op] || self.users[op].iter().any(|&user| !is_member(user))
    }

    /// Whether the op costs nothing inside a program.
    pub(super) fn is_free(op: &Op) -> bool {
        match &op.kind {
            OpKind::Constant(literal) => literal.splat_element().is_some() || literal.ty().checked_count() == Some(1),
            OpKind::Iota { .. } | OpKind::BroadcastInDim { .. } | OpKind::Reshape => true,
            _ => false,
        }
    }

    /// The number of elements of a gather of single words of an array by one index each, which a fusion reads where
    /// they are; `None` for other ops.
    pub(super) fn picks(&self, op: &Op) -> Option<usize> {
        let OpKind::Gather { dims, slice_sizes, .. } = &op.kind else { return None };
        let [array, indices] = [0, 1].map(|index| self.tensor(op.operands[index]));
        let (array, indices, result) = (array?, indices?, self.tensor(op.results[0])?);
        let is_single = dims.collapsed_slice_dims == [0] && dims.start_index_map == [0] && slice_sizes[..] == [1];
        let count = result.checked_count().filter(|&count| count >= FEWEST_PICKED)?;
        // Index vectors of one component, with or without a dimension of their own.
        let is_scalar = indices.checked_count() == Some(count) && indices.element == ElementType::S32;
        (is_single && can_be_picked(array) && is_scalar).then_some(count)
    }

    /// Whether `user` needs all elements of the array that `op` produces, not those at its own places.
    pub(super) fn needs_whole(&self, user: usize, op: usize) -> bool {
        let user = &self.region.ops[user];
        self.picks(user).is_some() && self.producer(self.root(user.operands[0])) == Some(op)
    }

    /// The number of elements of an element-wise op, or of a gather, that can be fused; `None` for other ops.
    pub(super) fn fusable(&self, op: &Op) -> Option<usize> {
        if matches!(op.kind, OpKind::Gather { .. }) {
            return self.picks(op);
        }
        if !math::is_element_wise(&op.kind) {
            return None;
        }
        let result = self.tensor(*op.results.first()?)?;
        let count = result.checked_count()?;
        let mut elements: smallvec::SmallVec<[ElementType; 4]> = smallvec::SmallVec::new();
        for &operand in &op.operands {
            let operand = self.tensor(operand)?;
            if operand.dims != result.dims && operand.checked_count() != Some(1) {
                return None;
            }
            elements.push(operand.element);
        }
        math::has_functions(&op.kind, &elements, result.element).then_some(count)
    }

    /// Whether to compute the op twice rather than store its result: a conversion of a value that no fusion produces.
    pub(super) fn is_repeatable(&self, op: &Op) -> bool {
        matches!(op.kind, OpKind::Convert) && op.operands.iter().all(|&operand| self.is_stored(operand))
    }

    /// Whether a value is in memory, whatever is fused.
    fn is_stored(&self, value: ValueId) -> bool {
        match self.producer(self.root(value)) {
            Some(producer) => self.fusable(&self.region.ops[producer]).is_none(),
            None => true,
        }
    }

    /// Whether it takes less time to compute the op in several fusions than to store its result and to read it there:
    /// it is cheap, and reads one large value from memory, or results of such ops.
    pub(super) fn is_cheap(&self, op: &Op) -> bool {
        self.reads(op, DEEPEST).is_some_and(|reads| reads <= 1)
    }

    /// The number of large values in memory that a cheap op reads, at most through `depth` other cheap ops; `None` if
    /// it or one of those is not cheap.
    fn reads(&self, op: &Op, depth: usize) -> Option<usize> {
        use BinaryOp::{Add, Maximum, Minimum, Multiply, Subtract};
        let is_cheap = match &op.kind {
            OpKind::Convert | OpKind::Unary(UnaryOp::Negate | UnaryOp::Abs) => true,
            OpKind::Binary(function) => matches!(function, Add | Maximum | Minimum | Multiply | Subtract),
            _ => false,
        };
        let count = self.fusable(op).filter(|_| is_cheap)?;
        let mut operands: smallvec::SmallVec<[ValueId; 2]> =
            op.operands.iter().map(|&operand| self.root(operand)).collect();
        operands.dedup();
        let mut reads = 0;
        for operand in operands {
            reads += match self.producer(operand).map(|index| &self.region.ops[index]) {
                Some(op) if Graph::is_free(op) => usize::from(self.is_large(op, count)),
                Some(op) if self.fusable(op).is_some() => self.reads(op, depth.checked_sub(1)?)?,
                _ => 1,
            };
        }
        Some(reads)
    }

    /// Whether a broadcast to `count` elements reads nearly as many.
    fn is_large(&self, op: &Op, count: usize) -> bool {
        let read = op.operands.iter().filter_map(|&operand| self.tensor(operand)?.checked_count()).sum::<usize>();
        read > count / 4
    }
}
