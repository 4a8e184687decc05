//! Slices and gathers of computed arrays, taken from what these are computed from.
//!
//! `gather(f(x, y), i)` becomes `f(gather(x, i), gather(y, i))` where `f` is element-wise, as in a cross entropy, which
//! needs one logarithm of a row of probabilities: the large array is not written, or not even computed.

use std::collections::HashMap;

use oxcall::Error;
use oxcall_hlo::{GatherDims, Literal, Module, Op, OpKind, Region, TensorType, ValueId};
use smallvec::SmallVec;

use super::ir::{Rewrite, Rewriter, is_elementwise, rewrite};

/// The fewest elements of an array, for each element that is taken from it.
const FEWEST_FOR_EACH: usize = 4;

/// The fewest elements of an array: smaller ones are in a cache, and in loops in registers.
const FEWEST: usize = 4096;

/// The most ops that are repeated for the elements that are taken.
const MOST_OPS: usize = 16;

/// The most arrays in memory from which elements are taken.
const MOST_SOURCES: usize = 3;

/// Takes elements before element-wise ops. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn before_elementwise(module: &mut Module) -> Result<bool, Error> {
    let mut uses = HashMap::new();
    count_uses(&module.main().body, &mut uses);
    rewrite(module, |rewriter, op| {
        Ok(match moved(rewriter, &op, &uses) {
            Some(value) => Rewrite::one(value),
            None => Rewrite::Keep(op),
        })
    })
}

/// The number of uses of each value, and of those that are slices.
type Uses = HashMap<ValueId, (usize, usize)>;

fn count_uses(region: &Region, uses: &mut Uses) {
    for op in &region.ops {
        op.operands.iter().for_each(|&operand| uses.entry(operand).or_default().0 += 1);
        if is_slice(&op.kind) {
            uses.entry(op.operands[0]).or_default().1 += 1;
        }
        op.regions.iter().for_each(|region| count_uses(region, uses));
    }
    region.results.iter().for_each(|&result| uses.entry(result).or_default().0 += 1);
}

fn is_slice(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Slice { .. } | OpKind::DynamicSlice { .. })
}

/// The elements that `op` takes, if it does so from a large array that element-wise ops compute.
fn moved(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<ValueId> {
    if !is_slice(&op.kind) && !matches!(op.kind, OpKind::Gather { .. }) {
        return None;
    }
    let (&from, indices) = op.operands.split_first()?;
    // A slice of an array that is in memory in any case may be a view of it.
    let (all, slices) = uses.get(&from).copied().unwrap_or((usize::MAX, 0));
    if is_slice(&op.kind) && all != slices {
        return None;
    }
    let (source, result) = (rewriter.tensor(from), rewriter.tensor(op.results[0]).clone());
    let (large, small) = (source.checked_count()?, result.checked_count()?);
    // Parts that make up the whole, such as halves or coordinates, are computed once in either case.
    let for_each = if is_slice(&op.kind) { FEWEST_FOR_EACH.min(all) } else { FEWEST_FOR_EACH };
    let is_worth_it = large >= FEWEST && small > 0 && small.saturating_mul(for_each) <= large;
    if !is_worth_it || !is_computed(rewriter, from) {
        return None;
    }
    let mut pick = Pick { kind: &op.kind, indices, result: &result, ops: 0, sources: 0, ways: HashMap::new() };
    pick.plan(rewriter, from)?;
    Some(pick.take(rewriter, from))
}

fn is_computed(rewriter: &Rewriter<'_>, value: ValueId) -> bool {
    rewriter.is_local(value) && rewriter.def(value).is_some_and(|op| is_elementwise(&op.kind))
}

/// How elements of a value are taken.
#[derive(Debug, Clone)]
enum Way {
    /// By the value's op, from its operands.
    Op,
    /// As a constant.
    Constant,
    /// As a broadcast of the operand, whose dimensions are these of the result; those of size 1 may be in none.
    Repeat(Vec<Option<usize>>),
    /// From a broadcast of the operand to this shape, which lacks these batching dimensions, of size 1.
    Narrow(TensorType, Vec<usize>),
    /// As a broadcast of a slice of the operand.
    Slice,
    /// From the value.
    Source,
    /// Done.
    Taken(ValueId),
}

/// A gather or slice of values of one shape.
struct Pick<'a> {
    kind: &'a OpKind,
    indices: &'a [ValueId],
    result: &'a TensorType,
    ops: usize,
    sources: usize,
    ways: HashMap<ValueId, Way>,
}

impl Pick<'_> {
    /// Finds the ways for a value and all that it is computed from; `None` if they are too many, or if some array would
    /// have to be written.
    fn plan(&mut self, rewriter: &Rewriter<'_>, value: ValueId) -> Option<()> {
        if self.ways.contains_key(&value) {
            return Some(());
        }
        let way = self.way(rewriter, value)?;
        match &way {
            Way::Op => self.ops += 1,
            Way::Source => self.sources += 1,
            _ => {}
        }
        if self.ops > MOST_OPS || self.sources > MOST_SOURCES {
            return None;
        }
        let operands = if matches!(way, Way::Op) { &rewriter.def(value)?.operands[..] } else { &[] };
        self.ways.insert(value, way);
        // The limit also bounds the depth of the recursion.
        operands
            .iter()
            .filter(|&&operand| !is_scalar(rewriter, operand))
            .try_for_each(|&each| self.plan(rewriter, each))
    }

    fn way(&self, rewriter: &Rewriter<'_>, value: ValueId) -> Option<Way> {
        let Some(op) = rewriter.def(value) else { return Some(Way::Source) };
        let ty = rewriter.tensor(value);
        match &op.kind {
            OpKind::Constant(literal) if literal.splat_element().is_some() => Some(Way::Constant),
            OpKind::BroadcastInDim { dims } => self.through_broadcast(rewriter.tensor(op.operands[0]), dims, ty),
            // Ops that fusions read through are not in memory.
            OpKind::Slice { .. } if is_slice(self.kind) => Some(Way::Source),
            OpKind::Iota { .. }
            | OpKind::Slice { .. }
            | OpKind::Pad { .. }
            | OpKind::Concatenate { .. }
            | OpKind::BitcastConvert => None,
            // A reshape is another name of its operand, which is in memory unless ops fuse.
            OpKind::Reshape => is_in_memory(rewriter, op.operands[0]).then_some(Way::Source),
            _ if is_computed(rewriter, value) => Some(Way::Op),
            kind if is_elementwise(kind) => None,
            _ => Some(Way::Source),
        }
    }

    /// The way for a broadcast of type `ty`.
    fn through_broadcast(&self, operand: &TensorType, dims: &[usize], ty: &TensorType) -> Option<Way> {
        if operand.checked_count()? == 1 {
            return Some(Way::Repeat(vec![None; dims.len()]));
        }
        if is_slice(self.kind) {
            return Some(Way::Slice);
        }
        let is_repeated =
            |dim: usize| dims.iter().position(|&place| place == dim).is_none_or(|at| operand.dims[at] == 1);
        let mut narrow = ty.clone();
        let mut batching = Vec::new();
        for dim in (0..ty.rank()).filter(|&dim| is_repeated(dim)) {
            if self.is_batching(dim) {
                batching.push(dim);
            }
            if self.takes_one(dim) || self.is_batching(dim) {
                narrow.dims[dim] = 1;
            }
        }
        if let Some(places) = self.places(&narrow) {
            return Some(Way::Repeat(dims.iter().map(|&dim| places[dim]).collect()));
        }
        let is_worth_it = narrow.checked_count()?.saturating_mul(FEWEST_FOR_EACH) <= ty.checked_count()?;
        is_worth_it.then_some(Way::Narrow(narrow, batching))
    }

    /// Whether each batch of a gather has an index of its own along a dimension.
    fn is_batching(&self, dim: usize) -> bool {
        matches!(self.kind, OpKind::Gather { dims, .. } if dims.operand_batching_dims.contains(&dim))
    }

    /// Whether one element along a dimension is taken for each of the result, at an index that is clamped.
    fn takes_one(&self, dim: usize) -> bool {
        match self.kind {
            OpKind::Gather { slice_sizes, .. } => slice_sizes[dim] == 1 && !self.is_batching(dim),
            _ => false,
        }
    }

    /// The dimension of the result in which each dimension of the operand is, or `None` for those of size 1 that the
    /// result lacks; `None` if elements of an operand of this type depend on indices.
    fn places(&self, ty: &TensorType) -> Option<Vec<Option<usize>>> {
        let OpKind::Gather { dims, slice_sizes, .. } = self.kind else { return None };
        let GatherDims { collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, .. } = dims;
        let is_whole = |dim: usize| ty.dims[dim] == slice_sizes[dim] || operand_batching_dims.contains(&dim);
        if !(0..ty.rank()).all(is_whole) {
            return None;
        }
        let batch: SmallVec<[usize; 4]> =
            (0..self.result.rank()).filter(|dim| !dims.offset_dims.contains(dim)).collect();
        let mut offsets = dims.offset_dims.iter().copied();
        let place = |dim: usize| match operand_batching_dims.iter().position(|&each| each == dim) {
            Some(at) => {
                let index_dim = start_indices_batching_dims[at];
                batch.get(index_dim - usize::from(index_dim > dims.index_vector_dim)).copied()
            }
            None if collapsed_slice_dims.contains(&dim) => None,
            None => offsets.next(),
        };
        Some((0..ty.rank()).map(place).collect())
    }

    /// The elements of a value that has a way.
    fn take(&mut self, rewriter: &mut Rewriter<'_>, value: ValueId) -> ValueId {
        let ty = self.result.with_element(rewriter.tensor(value).element);
        let op = rewriter.def(value).map(|op| (op.kind.clone(), op.operands.clone()));
        let taken = match (self.ways[&value].clone(), op) {
            (Way::Taken(taken), _) => return taken,
            (Way::Constant, Some((OpKind::Constant(literal), _))) => {
                rewriter.constant(Literal::splat(ty, literal.element(0).to_vec()))
            }
            (Way::Op, Some((kind, operands))) => {
                let operands: SmallVec<[ValueId; 3]> = (operands.into_iter())
                    .map(|operand| if is_scalar(rewriter, operand) { operand } else { self.take(rewriter, operand) })
                    .collect();
                rewriter.emit(kind, &operands, ty)
            }
            (Way::Repeat(places), Some((_, operands))) => {
                let mut one = rewriter.tensor(operands[0]).clone();
                let mut place = places.iter();
                one.dims.retain(|_| place.next().is_some_and(Option::is_some));
                let dims: SmallVec<[usize; 4]> = places.iter().flatten().copied().collect();
                let operand = if dims.len() == places.len() {
                    operands[0]
                } else {
                    rewriter.emit(OpKind::Reshape, &[operands[0]], one)
                };
                rewriter.broadcast(operand, &dims, &ty)
            }
            (Way::Slice, Some((OpKind::BroadcastInDim { dims }, operands))) => {
                let slice = self.slice(rewriter, operands[0], &dims);
                rewriter.broadcast(slice, &dims, &ty)
            }
            (Way::Narrow(narrow, batching), Some((OpKind::BroadcastInDim { dims }, operands))) => {
                let mut source = rewriter.broadcast(operands[0], &dims, &narrow);
                if !batching.is_empty() {
                    let mut rest = rewriter.tensor(source).clone();
                    rest.dims = without(&rest.dims, &batching).into_iter().collect();
                    source = rewriter.emit(OpKind::Reshape, &[source], rest);
                }
                self.emit(rewriter, without_batching(self.kind, &batching), source, ty)
            }
            _ => self.emit(rewriter, self.kind.clone(), value, ty),
        };
        self.ways.insert(value, Way::Taken(taken));
        taken
    }

    /// The slice of the operand of a broadcast along these dimensions.
    fn slice(&self, rewriter: &mut Rewriter<'_>, operand: ValueId, dims: &[usize]) -> ValueId {
        let mut ty = rewriter.tensor(operand).clone();
        let is_repeated: SmallVec<[bool; 4]> = ty.dims.iter().map(|&size| size == 1).collect();
        for (size, &dim) in ty.dims.iter_mut().zip(dims).filter(|(size, _)| **size != 1) {
            *size = self.result.dims[dim];
        }
        let of = |all: &[usize], one: usize| -> Vec<usize> {
            dims.iter().zip(&is_repeated).map(|(&dim, &is_repeated)| if is_repeated { one } else { all[dim] }).collect()
        };
        match self.kind {
            OpKind::Slice { start, limit, strides } => {
                let kind = OpKind::Slice { start: of(start, 0), limit: of(limit, 1), strides: of(strides, 1) };
                rewriter.emit(kind, &[operand], ty)
            }
            _ => {
                // An index along a dimension of size 1 is clamped to 0.
                let operands: SmallVec<[ValueId; 4]> =
                    std::iter::once(operand).chain(dims.iter().map(|&dim| self.indices[dim])).collect();
                rewriter.emit(OpKind::DynamicSlice { sizes: ty.dims.to_vec() }, &operands, ty)
            }
        }
    }

    /// A gather or slice of another value, with the same indices.
    fn emit(&self, rewriter: &mut Rewriter<'_>, kind: OpKind, value: ValueId, ty: TensorType) -> ValueId {
        let operands: SmallVec<[ValueId; 4]> = std::iter::once(value).chain(self.indices.iter().copied()).collect();
        rewriter.emit(kind, &operands, ty)
    }
}

/// What is left of a list with an entry for each dimension.
fn without(all: &[usize], dims: &[usize]) -> Vec<usize> {
    all.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|(_, &each)| each).collect()
}

/// The gather from an operand without some batching dimensions, along which all elements were equal.
fn without_batching(kind: &OpKind, batching: &[usize]) -> OpKind {
    let mut kind = kind.clone();
    if let OpKind::Gather { dims, slice_sizes, .. } = &mut kind {
        *slice_sizes = without(slice_sizes, batching);
        let pairs = dims.operand_batching_dims.iter().zip(&dims.start_indices_batching_dims);
        let (operand, indices) =
            pairs.filter(|(dim, _)| !batching.contains(dim)).map(|(&dim, &index_dim)| (dim, index_dim)).unzip();
        (dims.operand_batching_dims, dims.start_indices_batching_dims) = (operand, indices);
        let lists = [&mut dims.operand_batching_dims, &mut dims.collapsed_slice_dims, &mut dims.start_index_map];
        for dim in lists.into_iter().flatten() {
            *dim -= batching.iter().filter(|each| *each < dim).count();
        }
    }
    kind
}

fn is_scalar(rewriter: &Rewriter<'_>, value: ValueId) -> bool {
    rewriter.tensor(value).rank() == 0
}

/// Whether a value is in memory, whatever is fused.
fn is_in_memory(rewriter: &Rewriter<'_>, value: ValueId) -> bool {
    rewriter.def(value).is_none_or(|op| match &op.kind {
        OpKind::Reshape => is_in_memory(rewriter, op.operands[0]),
        OpKind::BroadcastInDim { .. } | OpKind::Iota { .. } => false,
        kind => !is_elementwise(kind),
    })
}
