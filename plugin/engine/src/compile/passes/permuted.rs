//! Reductions of rows that element-wise ops compute from small arrays, as reductions of columns.
//!
//! `sum((x[:, None] - y[None])^2, -1)` reads each row of both arrays many times. In rows, what is repeated is copied,
//! and reduced in another pass. So dimensions are permuted: those that are reduced come before the last one that is
//! kept, or, if that is short, before the largest, and results are transposed. Each step is then a vector of results,
//! of whole vectors of some leaves and single numbers of the others. Only the leaves, which are small, are transposed.
//! Sums stay as accurate: those of columns are chains of a few terms too, which are joined in pairs.

use std::collections::HashMap;

use oxcall::Error;
use oxcall_hlo::{Literal, Module, Op, OpKind, TensorType, ValueId};
use oxcall_kernels::kernels::reduce::column_fold;
use smallvec::smallvec;

use super::ir::{Rewriter, is_elementwise};
use super::short::{Uses, distinct_operands, function, replace};
use super::split::reduce;
use crate::compile::fusion::SMALLEST_SLAB;

/// The fewest elements of the operand: fewer take so little time that the transposition, an op of its own, counts.
const FEWEST: usize = 1 << 16;

/// The fewest elements of a row: shorter ones become sums of slices. Ten take 0.28 of their time in rows.
const SHORTEST_ROW: usize = 9;

/// The most elements of a row: copies of longer ones take as little time for each element. With 256 columns, sums of 64
/// terms take half of their time in rows, of 1024 four fifths, and of 4096 longer.
const LONGEST_ROW: usize = 1024;

/// The fewest columns: a step for each row of them has to be worth starting. Sums in 64 columns take at least 1.3 times
/// as long as in rows, in 96 up to 1.15 times, and in 128 at most as long.
const FEWEST_COLUMNS: usize = 128;

/// The fewest elements of the operand for each result, if results have to be transposed.
const FEWEST_FOR_EACH_RESULT: usize = 16;

/// The fewest elements of the operand for each of the leaves: transposing one takes as long as computing several.
const FEWEST_FOR_EACH: usize = 8;

/// The most element-wise ops: longer programs take so long for each element that their reads do not count.
const MOST_OPS: usize = 16;

/// Permutes the dimensions of what is reduced. Returns whether there was any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn reductions(module: &mut Module) -> Result<bool, Error> {
    replace(module, |rewriter, op, uses| Some(smallvec![permuted(rewriter, op, uses)?]))
}

/// The result of `op`, if it reduces rows of what is computed from small arrays for it alone.
fn permuted(rewriter: &mut Rewriter<'_>, op: &Op, uses: &Uses) -> Option<ValueId> {
    let OpKind::Reduce { dims } = &op.kind else { return None };
    let &[operand, init] = &op.operands[..] else { return None };
    let ty = rewriter.tensor(operand).clone();
    let function = function(op, &ty)?;
    // What a fusion can reduce by columns.
    column_fold(function, ty.element).filter(|_| matches!(ty.element.byte_width(), 4 | 8))?;
    rewriter.literal(init)?;
    let order = order(&ty, dims)?;
    let mut plan = Plan { ops: 0, leaves: HashMap::new(), uses: HashMap::new() };
    plan.visit(rewriter, operand)?;
    let is_own = |(value, count): (&ValueId, &usize)| uses.get(value) == Some(count);
    let leaves = plan.leaves.values().sum::<usize>();
    if !plan.uses.iter().all(is_own) || leaves.saturating_mul(FEWEST_FOR_EACH) > ty.count() {
        return None;
    }
    let value = Permuted { order: &order, known: HashMap::new() }.of(rewriter, operand);
    let places = (0..order.len()).filter(|&place| dims.contains(&order[place])).collect();
    let result = reduce(rewriter, value, init, function, places);
    // Kept dimensions in another order than those of the result.
    let kept: Vec<usize> = order.into_iter().filter(|dim| !dims.contains(dim)).collect();
    if kept.is_sorted() {
        return Some(result);
    }
    let mut permutation: Vec<usize> = (0..kept.len()).collect();
    permutation.sort_by_key(|&place| kept[place]);
    let ty = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(OpKind::Transpose { permutation }, &[result], ty))
}

/// The order of the dimensions of an array of this type in which those that are reduced come before one that is kept:
/// the last one, if it has enough columns, or the largest; `None` if they are not the last ones, beside dimensions of
/// size 1, or if rows are as fast.
fn order(ty: &TensorType, reduced: &[usize]) -> Option<Vec<usize>> {
    let is_kept = |dim: &usize| !reduced.contains(dim);
    let last = (0..ty.rank()).rev().find(|dim| is_kept(dim) && ty.dims[*dim] != 1)?;
    let is_inner = reduced.iter().all(|&dim| dim > last || ty.dims[dim] == 1);
    let is_large = ty.checked_count()? >= FEWEST;
    let rows = reduced.iter().map(|&dim| ty.dims[dim]).product::<usize>();
    let columns = match last {
        last if ty.dims[last] >= FEWEST_COLUMNS => last,
        last => {
            (0..=last).filter(is_kept).max_by_key(|&dim| ty.dims[dim]).filter(|_| rows >= FEWEST_FOR_EACH_RESULT)?
        }
    };
    let is_worth_it = (SHORTEST_ROW..=LONGEST_ROW).contains(&rows) && ty.dims[columns] >= FEWEST_COLUMNS;
    if !is_inner || !is_large || !is_worth_it || rows * ty.dims[columns] < SMALLEST_SLAB {
        return None;
    }
    let before = (0..last + 1).filter(|dim| is_kept(dim) && *dim != columns);
    let inner = (0..ty.rank()).filter(|dim| !is_kept(dim));
    let after = (last + 1..ty.rank()).filter(is_kept);
    Some(before.chain(inner).chain([columns]).chain(after).collect())
}

/// What an expression consists of.
struct Plan {
    /// The number of element-wise ops.
    ops: usize,
    /// The number of elements of each array that is broadcast.
    leaves: HashMap<ValueId, usize>,
    /// The number of ops of the expression that use each of its element-wise values.
    uses: HashMap<ValueId, usize>,
}

impl Plan {
    /// Adds a value and all that it is computed from; `None` if there is too much of it, or an array that is as large.
    fn visit(&mut self, rewriter: &Rewriter<'_>, value: ValueId) -> Option<()> {
        let ty = rewriter.tensor(value);
        if ty.rank() == 0 {
            return Some(());
        }
        let op = rewriter.def(value)?;
        match &op.kind {
            OpKind::Constant(literal) if literal.splat_element().is_some() => {}
            OpKind::Iota { .. } => {}
            OpKind::BroadcastInDim { .. } => {
                let leaf = op.operands[0];
                self.leaves.insert(leaf, rewriter.tensor(leaf).checked_count()?);
            }
            kind if is_elementwise(kind) && rewriter.is_local(value) => {
                let count = self.uses.entry(value).or_default();
                *count += 1;
                if *count > 1 {
                    return Some(());
                }
                self.ops += 1;
                // The limit also bounds the depth of the recursion.
                if self.ops > MOST_OPS {
                    return None;
                }
                return distinct_operands(op).try_for_each(|operand| self.visit(rewriter, operand));
            }
            _ => return None,
        }
        Some(())
    }
}

/// Values with permuted dimensions.
struct Permuted<'a> {
    /// The dimension that is at each place.
    order: &'a [usize],
    known: HashMap<ValueId, ValueId>,
}

impl Permuted<'_> {
    /// A value of the plan.
    fn of(&mut self, rewriter: &mut Rewriter<'_>, value: ValueId) -> ValueId {
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        let from = rewriter.tensor(value);
        if from.rank() == 0 {
            return value;
        }
        let ty = TensorType::new(from.element, self.order.iter().map(|&dim| from.dims[dim]));
        let op = rewriter.def(value).expect("planned: an op computes it");
        let (kind, operands) = (op.kind.clone(), op.operands.clone());
        let permuted = match kind {
            OpKind::Constant(literal) => rewriter.constant(Literal::splat(ty, literal.element(0).to_vec())),
            OpKind::Iota { dim } => rewriter.emit(OpKind::Iota { dim: self.place(dim) }, &[], ty),
            OpKind::BroadcastInDim { dims } => self.broadcast(rewriter, operands[0], &dims, &ty),
            kind => {
                let operands: Vec<ValueId> = operands.into_iter().map(|each| self.of(rewriter, each)).collect();
                rewriter.emit(kind, &operands, ty)
            }
        };
        self.known.insert(value, permuted);
        permuted
    }

    fn place(&self, dim: usize) -> usize {
        self.order.iter().position(|&each| each == dim).expect("all dimensions have places")
    }

    /// A leaf, transposed so that its dimensions are in order, whose dimension `i` was `dims[i]`.
    fn broadcast(&self, rewriter: &mut Rewriter<'_>, leaf: ValueId, dims: &[usize], ty: &TensorType) -> ValueId {
        let mut permutation: Vec<usize> = (0..dims.len()).collect();
        permutation.sort_by_key(|&dim| self.place(dims[dim]));
        let places: Vec<usize> = permutation.iter().map(|&dim| self.place(dims[dim])).collect();
        let mut leaf = leaf;
        if !permutation.is_sorted() {
            let from = rewriter.tensor(leaf);
            let transposed = TensorType::new(from.element, permutation.iter().map(|&dim| from.dims[dim]));
            leaf = rewriter.emit(OpKind::Transpose { permutation }, &[leaf], transposed);
        }
        rewriter.broadcast(leaf, &places, ty)
    }
}
