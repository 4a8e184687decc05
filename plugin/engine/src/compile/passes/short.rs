//! Short reductions as element-wise ops, as in the norm of points in space.
//!
//! `reduce(f(x), dims = [d])` over a few elements becomes `f(x[0]) + f(x[1]) + ...`, where `x[i]` are slices along the
//! reduced dimension: arrays that are as long as the result, where rows of a few elements would be reduced one by one.
//! Slices go through broadcasts, and those of what does not change in a loop leave it.

use std::collections::HashMap;

use oxcall::Error;
use oxcall_hlo::{BinaryOp, Literal, Module, Op, OpKind, Region, TensorType, UnaryOp, ValueId};
use smallvec::smallvec;

use super::ir::{Rewrite, Rewriter, Values, is_elementwise, rewrite};

/// The most elements of a reduction.
const LONGEST: usize = 8;

/// The fewest results.
pub(super) const FEWEST: usize = 256;

/// The most ops that replace a reduction.
const MOST_OPS: usize = 128;

/// The most elements between neighbours of a slice that fusions read in place.
const FARTHEST: usize = 4;

/// The most arrays as large as the operand of which slices are taken.
const MOST_SLICED: usize = 2;

/// Replaces short reductions. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn reductions(module: &mut Module) -> Result<bool, Error> {
    replace(module, |rewriter, op, uses| Some(smallvec![unrolled(rewriter, op, uses)?]))
}

/// Replaces the ops for whose results `replacement` has values. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn replace(
    module: &mut Module,
    replacement: impl Fn(&mut Rewriter<'_>, &Op, &Uses) -> Option<Values>,
) -> Result<bool, Error> {
    let mut uses = HashMap::new();
    count_uses(&module.main().body, &mut uses);
    rewrite(module, |rewriter, op| {
        Ok(match replacement(rewriter, &op, &uses) {
            Some(values) => Rewrite::With(values),
            None => Rewrite::Keep(op),
        })
    })
}

/// The number of ops and results that use each value.
pub(super) type Uses = HashMap<ValueId, usize>;

/// Counts the uses of values in `region`, and in those of its ops.
fn count_uses(region: &Region, uses: &mut Uses) {
    for op in &region.ops {
        distinct_operands(op).for_each(|operand| *uses.entry(operand).or_default() += 1);
        op.regions.iter().for_each(|region| count_uses(region, uses));
    }
    region.results.iter().for_each(|&result| *uses.entry(result).or_default() += 1);
}

/// The operands of an op, each once: a square uses its operand once.
pub(super) fn distinct_operands(op: &Op) -> impl Iterator<Item = ValueId> {
    let is_first = |(index, operand): &(usize, &ValueId)| !op.operands[..*index].contains(operand);
    op.operands.iter().enumerate().filter(is_first).map(|(_, &operand)| operand)
}

/// The function of a reduction, if it is one of two elements in either order, and the same however often it rounds.
pub(super) fn function(op: &Op, ty: &TensorType) -> Option<BinaryOp> {
    let is_wide = !ty.element.is_float() || ty.element.bits() >= 32;
    any_function(op).filter(|_| is_wide && !ty.element.is_complex())
}

/// The function of a reduction, if it is one of two elements in either order.
pub(super) fn any_function(op: &Op) -> Option<BinaryOp> {
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let [region] = &op.regions[..] else { return None };
    let [body] = &region.ops[..] else { return None };
    let OpKind::Binary(function) = body.kind else { return None };
    let is_both =
        matches!((&body.operands[..], &region.params[..]), (&[a, b], &[x, y]) if [a, b] == [x, y] || [b, a] == [x, y]);
    let is_applied = is_both && region.results == body.results;
    let is_known = matches!(function, Add | And | Maximum | Minimum | Multiply | Or | Xor);
    (is_applied && is_known).then_some(function)
}

/// What `op` reduces, element by element, if it is a short reduction of what other ops compute for it alone.
fn unrolled(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<ValueId> {
    let OpKind::Reduce { dims } = &op.kind else { return None };
    if let Some(value) = of_ones(rewriter, op, dims) {
        return Some(value);
    }
    let (&[dim], &[operand, init]) = (&dims[..], &op.operands[..]) else { return None };
    let ty = rewriter.tensor(operand).clone();
    let function = function(op, &ty)?;
    let (size, result) = (ty.dims[dim], rewriter.tensor(op.results[0]).clone());
    let is_short = (2..=LONGEST).contains(&size) && result.checked_count().is_some_and(|count| count >= FEWEST);
    let is_computed = |op: &Op| is_elementwise(&op.kind);
    let is_own = uses.get(&operand).is_none_or(|&count| count == 1);
    if !is_short || !is_own || !rewriter.is_local(operand) || !rewriter.def(operand).is_some_and(is_computed) {
        return None;
    }
    let mut parts = slices(rewriter, uses, operand, dim)?;
    // In pairs, then pairs of pairs: the first half with the second.
    while parts.len() > 1 {
        let half = parts.len().div_ceil(2);
        for index in half..parts.len() {
            parts[index - half] = rewriter.emit_like(OpKind::Binary(function), &[parts[index - half], parts[index]]);
        }
        parts.truncate(half);
    }
    let init = rewriter.broadcast(init, &[], &result);
    Some(rewriter.emit_like(OpKind::Binary(function), &[init, parts[0]]))
}

/// The slices of `operand` along `dim`, without that dimension; `None` if they take too many ops.
pub(super) fn slices(rewriter: &mut Rewriter<'_>, uses: &Uses, operand: ValueId, dim: usize) -> Option<Vec<ValueId>> {
    let size = rewriter.tensor(operand).dims[dim];
    let mut plan = Plan { uses, ops: 0, sliced: Vec::new(), seen: HashMap::new() };
    plan.visit(rewriter, operand, dim);
    if plan.ops * size > MOST_OPS || plan.sliced.len() > MOST_SLICED {
        return None;
    }
    let mut transposed = HashMap::new();
    let slice = |index| {
        let transposed = &mut transposed;
        Slices { plan: &plan, index, known: HashMap::new(), transposed }.of(rewriter, operand, dim)
    };
    Some((0..size).map(slice).collect())
}

/// A reduction along dimensions of size 1, such as that of the checks of an index of one component.
fn of_ones(rewriter: &mut Rewriter<'_>, op: &Op, dims: &[usize]) -> Option<ValueId> {
    let &[operand, init] = &op.operands[..] else { return None };
    let ty = rewriter.tensor(operand);
    let function = function(op, ty)?;
    if !dims.iter().all(|&dim| ty.dims[dim] == 1) {
        return None;
    }
    let result = rewriter.tensor(op.results[0]).clone();
    let elements = rewriter.emit(OpKind::Reshape, &[operand], result.clone());
    let init = rewriter.broadcast(init, &[], &result);
    Some(rewriter.emit_like(OpKind::Binary(function), &[init, elements]))
}

/// How a slice of a value along a dimension is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the value's op, of slices of its operands.
    Op,
    /// As a broadcast of a slice of its operand along this dimension, if it has that.
    Broadcast(Option<usize>),
    /// As a reshape of a slice of its operand along this dimension.
    Reshape(usize),
    /// As a slice of the value.
    Slice,
}

/// The ways for all values that lead to one.
struct Plan<'a> {
    uses: &'a Uses,
    /// The number of ops for one slice.
    ops: usize,
    /// Values as large as the operand that are sliced themselves.
    sliced: Vec<ValueId>,
    seen: HashMap<(ValueId, usize), Way>,
}

impl Plan<'_> {
    fn visit(&mut self, rewriter: &Rewriter<'_>, value: ValueId, dim: usize) {
        // The limit also bounds the depth of the recursion.
        if self.ops > MOST_OPS || self.seen.contains_key(&(value, dim)) {
            return;
        }
        let way = self.way(rewriter, value, dim);
        self.seen.insert((value, dim), way);
        self.ops += 1;
        let operands = rewriter.def(value).map_or(&[][..], |op| &op.operands).to_vec();
        match way {
            Way::Op => operands.into_iter().for_each(|operand| {
                if rewriter.tensor(operand).rank() > 0 {
                    self.visit(rewriter, operand, dim);
                }
            }),
            Way::Broadcast(Some(inner)) | Way::Reshape(inner) => self.visit(rewriter, operands[0], inner),
            Way::Broadcast(None) => {}
            Way::Slice => {
                let ty = rewriter.tensor(value);
                if ty.count() >= FEWEST * ty.dims[dim] {
                    self.sliced.push(value);
                }
            }
        }
    }

    fn way(&self, rewriter: &Rewriter<'_>, value: ValueId, dim: usize) -> Way {
        let ty = rewriter.tensor(value);
        let Some(op) = rewriter.def(value) else { return Way::Slice };
        match &op.kind {
            OpKind::Constant(literal) if literal.splat_element().is_some() => Way::Op,
            OpKind::BroadcastInDim { dims } => {
                let from = rewriter.tensor(op.operands[0]);
                let inner = dims.iter().position(|&place| place == dim);
                Way::Broadcast(inner.filter(|&inner| from.dims[inner] == ty.dims[dim]))
            }
            OpKind::Reshape => {
                let from = &rewriter.tensor(op.operands[0]).dims;
                let before = |dims: &[usize], dim: usize| dims[..dim].iter().product::<usize>();
                let is_same =
                    |&inner: &usize| from[inner] == ty.dims[dim] && before(from, inner) == before(&ty.dims, dim);
                (0..from.len()).find(is_same).map_or(Way::Slice, Way::Reshape)
            }
            kind if is_elementwise(kind) && rewriter.is_local(value) => {
                let is_array = |&operand: &ValueId| [&[][..], &ty.dims].contains(&&rewriter.tensor(operand).dims[..]);
                let is_own = self.uses.get(&value).is_none_or(|&count| count == 1);
                if op.operands.iter().all(is_array) && (is_own || is_cheap(kind)) { Way::Op } else { Way::Slice }
            }
            _ => Way::Slice,
        }
    }
}

/// Whether it takes less time to compute an op twice than to slice its result.
fn is_cheap(kind: &OpKind) -> bool {
    use BinaryOp::{Add, Maximum, Minimum, Multiply, Subtract};
    match kind {
        OpKind::Convert | OpKind::Select | OpKind::Compare(..) | OpKind::Unary(UnaryOp::Negate | UnaryOp::Abs) => true,
        OpKind::Binary(function) => matches!(function, Add | Maximum | Minimum | Multiply | Subtract),
        _ => false,
    }
}

/// The slices of values at one index.
struct Slices<'a> {
    plan: &'a Plan<'a>,
    index: usize,
    known: HashMap<(ValueId, usize), ValueId>,
    /// The transposes of values of which slices at all indices are taken.
    transposed: &'a mut HashMap<ValueId, ValueId>,
}

impl Slices<'_> {
    /// The slice of `value` along `dim`, without that dimension.
    fn of(&mut self, rewriter: &mut Rewriter<'_>, value: ValueId, dim: usize) -> ValueId {
        if let Some(&known) = self.known.get(&(value, dim)) {
            return known;
        }
        let mut ty = rewriter.tensor(value).clone();
        let all = ty.dims.clone();
        ty.dims.remove(dim);
        let op = rewriter.def(value).map(|op| (op.kind.clone(), op.operands.clone()));
        let slice = match (self.plan.seen[&(value, dim)], op) {
            (Way::Op, Some((OpKind::Constant(literal), _))) => {
                rewriter.constant(Literal::splat(ty, literal.element(0).to_vec()))
            }
            (Way::Op, Some((kind, operands))) => {
                let operands: Vec<ValueId> = (operands.into_iter())
                    .map(|operand| match rewriter.tensor(operand).rank() {
                        0 => operand,
                        _ => self.of(rewriter, operand, dim),
                    })
                    .collect();
                rewriter.emit(kind, &operands, ty)
            }
            (Way::Broadcast(inner), Some((OpKind::BroadcastInDim { dims }, operands))) => {
                let mut operand = operands[0];
                let mut dims = dims;
                match inner {
                    Some(inner) => {
                        operand = self.of(rewriter, operand, inner);
                        dims.remove(inner);
                    }
                    // What is repeated along the dimension has size 1 there, or does not have it.
                    None => {
                        if let Some(inner) = dims.iter().position(|&place| place == dim) {
                            let mut one = rewriter.tensor(operand).clone();
                            one.dims.remove(inner);
                            dims.remove(inner);
                            operand = rewriter.emit(OpKind::Reshape, &[operand], one);
                        }
                    }
                }
                let dims: Vec<usize> = dims.into_iter().map(|place| place - usize::from(place > dim)).collect();
                rewriter.broadcast(operand, &dims, &ty)
            }
            (Way::Reshape(inner), Some((_, operands))) => {
                let operand = self.of(rewriter, operands[0], inner);
                rewriter.emit(OpKind::Reshape, &[operand], ty)
            }
            _ => {
                let is_far = all[dim + 1..].iter().product::<usize>() == 1 && all[dim] > FARTHEST;
                let (from, dim) = if is_far { (self.transposed(rewriter, value, dim), 0) } else { (value, dim) };
                let mut limit = rewriter.tensor(from).dims.to_vec();
                let mut start = vec![0; limit.len()];
                (start[dim], limit[dim]) = (self.index, self.index + 1);
                let mut one = ty.clone();
                one.dims.insert(dim, 1);
                let strides = vec![1; start.len()];
                let slice = rewriter.emit(OpKind::Slice { start, limit, strides }, &[from], one);
                rewriter.emit(OpKind::Reshape, &[slice], ty)
            }
        };
        self.known.insert((value, dim), slice);
        slice
    }

    /// `value` with this dimension first, so that a slice is an array of neighbours.
    fn transposed(&mut self, rewriter: &mut Rewriter<'_>, value: ValueId, dim: usize) -> ValueId {
        *self.transposed.entry(value).or_insert_with(|| {
            let mut ty = rewriter.tensor(value).clone();
            let permutation: Vec<usize> =
                std::iter::once(dim).chain((0..ty.rank()).filter(|&other| other != dim)).collect();
            ty.dims = permutation.iter().map(|&dim| ty.dims[dim]).collect();
            rewriter.emit(OpKind::Transpose { permutation }, &[value], ty)
        })
    }
}
