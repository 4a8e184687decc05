//! Views: slices, pads, concatenations and broadcasts of other values, whose elements a fusion reads where they are.

use oxcall_hlo::{Op, OpKind, TensorType, ValueId};
use oxcall_kernels::tile::{Access, Dim};
use smallvec::SmallVec;

use super::graph::Graph;

/// The most operands that a view is put together from, and the most views of views.
const MOST_PARTS: usize = 16;
const DEEPEST: usize = 8;

/// The fewest elements that are copied as one, on average: shorter runs are faster in the kernel of the op.
pub(super) const SHORTEST_RUN: usize = if cfg!(test) { 32 } else { 64 };

/// Elements of other values, each in a box of the view.
#[derive(Clone)]
pub(super) struct View {
    /// The boxes, which share no element and leave none out.
    pub(super) parts: Vec<Part>,
}

/// The elements in a box.
#[derive(Clone)]
pub(super) struct Part {
    /// The value that has the elements.
    pub(super) source: ValueId,
    /// The dimensions of the view.
    dims: SmallVec<[Dim; 4]>,
    /// The element of the value that is the first in the box.
    offset: usize,
}

impl Part {
    /// The map to the elements.
    pub(super) fn access(&self) -> Access {
        Access::of_box(self.dims.iter().copied(), self.offset)
    }
}

impl View {
    /// All elements of a value, as an array of shape `dims`.
    fn whole(source: ValueId, dims: &[usize]) -> View {
        let mut stride = 1;
        let mut parts: SmallVec<[Dim; 4]> = SmallVec::new();
        for &size in dims.iter().rev() {
            parts.push(Dim { size, start: 0, len: size, stride });
            stride *= size;
        }
        parts.reverse();
        View { parts: vec![Part { source, dims: parts, offset: 0 }] }
    }

    /// The elements `starts[i] + k * steps[i]` of each dimension `i`, `dims[i]` of them.
    fn slice(mut self, dims: &[usize], starts: &[usize], steps: &[usize]) -> View {
        self.parts.retain_mut(|part| {
            for (dim, ((&size, &start), &step)) in part.dims.iter_mut().zip(dims.iter().zip(starts).zip(steps)) {
                let first = dim.start.saturating_sub(start).div_ceil(step);
                let end = (dim.start + dim.len).saturating_sub(start).div_ceil(step).min(size);
                if first >= end {
                    return false;
                }
                part.offset += (start + first * step - dim.start) * dim.stride;
                *dim = Dim { size, start: first, len: end - first, stride: dim.stride * step };
            }
            true
        });
        self
    }

    /// The same as a part of an array of shape `dims`, from `low` on.
    fn placed(mut self, dims: &[usize], low: &[usize]) -> View {
        for part in &mut self.parts {
            for (dim, (&size, &low)) in part.dims.iter_mut().zip(dims.iter().zip(low)) {
                *dim = Dim { size, start: dim.start + low, ..*dim };
            }
        }
        self
    }

    /// A broadcast to an array of shape `dims`, where dimension `i` becomes `places[i]`.
    fn broadcast(mut self, dims: &[usize], places: &[usize]) -> View {
        for part in &mut self.parts {
            let mut to: SmallVec<[Dim; 4]> =
                dims.iter().map(|&size| Dim { size, start: 0, len: size, stride: 0 }).collect();
            for (dim, &place) in part.dims.iter().zip(places).filter(|(dim, _)| dim.size != 1) {
                to[place] = *dim;
            }
            part.dims = to;
        }
        self
    }

    /// The same elements as an array of shape `dims`, if that differs only in dimensions of size 1.
    fn reshaped(mut self, dims: &[usize]) -> Option<View> {
        for part in &mut self.parts {
            let mut old = part.dims.iter().filter(|dim| dim.size != 1);
            let mut to: SmallVec<[Dim; 4]> = SmallVec::new();
            for &size in dims {
                to.push(match size {
                    1 => Dim { size: 1, start: 0, len: 1, stride: 0 },
                    size => *old.next().filter(|dim| dim.size == size)?,
                });
            }
            if old.next().is_some() {
                return None;
            }
            part.dims = to;
        }
        Some(self)
    }

    /// Adds a box with copies of one element, unless it is empty.
    fn fill(&mut self, background: ValueId, dims: impl Iterator<Item = Dim>) {
        let dims: SmallVec<[Dim; 4]> = dims.collect();
        if dims.iter().all(|dim| dim.len > 0) {
            self.parts.push(Part { source: background, dims, offset: 0 });
        }
    }

    /// The padding around an array of shape `inner` that begins at `low` of one of shape `dims`.
    fn surround(&mut self, background: ValueId, dims: &[usize], inner: &[usize], low: &[usize]) {
        for padded in 0..dims.len() {
            let (end, size) = (low[padded] + inner[padded], dims[padded]);
            for (start, len) in [(0, low[padded]), (end, size - end)] {
                // Dimensions before this one are inside, those after it whole.
                self.fill(
                    background,
                    (0..dims.len()).map(|dim| match dim {
                        _ if dim < padded => Dim { size: dims[dim], start: low[dim], len: inner[dim], stride: 0 },
                        _ if dim == padded => Dim { size, start, len, stride: 0 },
                        _ => Dim { size: dims[dim], start: 0, len: dims[dim], stride: 0 },
                    }),
                );
            }
        }
    }
}

/// The elements of `value`, if it is a view that nothing else needs and whose runs are long.
pub(super) fn of(graph: &Graph<'_>, value: ValueId) -> Option<View> {
    if !graph.is_view(value) {
        return None;
    }
    long(graph, value, view(graph, value, DEEPEST)?)
}

/// The elements of the result of `op`, which [copies](Graph::copies) some of views, if their runs are long.
pub(super) fn copied(graph: &Graph<'_>, op: &Op) -> Option<View> {
    let value = op.results[0];
    if !op.operands.iter().any(|&operand| graph.is_view(graph.root(operand))) {
        return None;
    }
    long(graph, value, select(graph, op, graph.tensor(value)?, DEEPEST)?)
}

/// A view of a value, if its runs are long.
fn long(graph: &Graph<'_>, value: ValueId, view: View) -> Option<View> {
    let runs: usize = view.parts.iter().map(|part| part.access().runs_for_vectors()).sum();
    let count = graph.tensor(value)?.count();
    (runs <= count.div_ceil(SHORTEST_RUN)).then_some(view)
}

/// The elements of a value, which may be one that no view is made of.
fn view(graph: &Graph<'_>, value: ValueId, depth: usize) -> Option<View> {
    let ty = graph.tensor(value)?;
    let root = graph.root(value);
    if root != value {
        let reshaped = graph.is_view(root).then(|| view(graph, root, depth)?.reshaped(&ty.dims)).flatten();
        return Some(reshaped.unwrap_or_else(|| View::whole(root, &ty.dims)));
    }
    let op = graph.producer(value).map(|index| &graph.region.ops[index]).filter(|_| graph.is_view(value) && depth > 0);
    match op {
        Some(op) => select(graph, op, ty, depth),
        None => Some(View::whole(value, &ty.dims)),
    }
}

/// The elements of the result of `op`, which selects them.
fn select(graph: &Graph<'_>, op: &Op, ty: &TensorType, depth: usize) -> Option<View> {
    let operand = |index: usize| view(graph, op.operands[index], depth - 1);
    let view = match &op.kind {
        OpKind::Slice { start, strides, .. } => operand(0)?.slice(&ty.dims, start, strides),
        OpKind::BroadcastInDim { dims } => operand(0)?.broadcast(&ty.dims, dims),
        OpKind::Pad { low, .. } => {
            let inner = &graph.tensor(op.operands[0])?.dims;
            let low: SmallVec<[usize; 4]> =
                low.iter().map(|&low| usize::try_from(low)).collect::<Result<_, _>>().ok()?;
            let mut view = operand(0)?.placed(&ty.dims, &low);
            view.surround(graph.root(op.operands[1]), &ty.dims, inner, &low);
            view
        }
        OpKind::Concatenate { dim } => {
            let mut low: SmallVec<[usize; 4]> = ty.dims.iter().map(|_| 0).collect();
            let mut joined = View { parts: Vec::new() };
            for (index, &part) in op.operands.iter().enumerate() {
                let dims = &graph.tensor(part)?.dims;
                if dims[*dim] > 0 {
                    joined.parts.extend(operand(index)?.placed(&ty.dims, &low).parts);
                }
                low[*dim] += dims[*dim];
                if joined.parts.len() > MOST_PARTS {
                    return None;
                }
            }
            joined
        }
        _ => return None,
    };
    (view.parts.len() <= MOST_PARTS).then_some(view)
}
