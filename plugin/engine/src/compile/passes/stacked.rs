//! Products of slices that a loop takes one after another, with a matrix that does not change.
//!
//! A scan multiplies each step's input by the same weights. One product of all inputs, before the loop, reads and packs
//! the weights once, has many rows, and runs on all threads; the loop then takes slices of its result.

use std::collections::HashSet;

use oxcall::Error;
use oxcall_hlo::{DotDims, Literal, Module, Op, OpKind, Region, TensorType, ValueId};

use super::ir::{Rewrite, Rewriter, rewrite};
use super::trips::{self, defining};

/// The fewest multiplications of a product that leaves a loop: machine code computes smaller ones inside of it.
const FEWEST: usize = 512;

/// The most bytes of all products: more would have to come from memory.
const MOST_BYTES: usize = 16 << 20;

/// Moves products before loops. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn products(module: &mut Module) -> Result<bool, Error> {
    let mut any = false;
    rewrite(module, |rewriter, mut op| {
        if op.kind == OpKind::While
            && let Some(turns) = trips::count(rewriter, &op).and_then(|turns| usize::try_from(turns).ok())
        {
            any |= in_body(rewriter, &mut op.regions[1], turns);
        }
        Ok(Rewrite::Keep(op))
    })?;
    Ok(any)
}

/// Moves the products of a loop's body, which runs so many times, before the op being rewritten.
fn in_body(rewriter: &mut Rewriter<'_>, body: &mut Region, turns: usize) -> bool {
    let results = body.ops.iter().flat_map(|op| &op.results);
    let inside: HashSet<ValueId> = body.params.iter().chain(results).copied().collect();
    let mut ops = Vec::with_capacity(body.ops.len());
    let mut any = false;
    for op in &body.ops {
        let product = [0, 1].into_iter().find_map(|side| Product::new(rewriter, body, &inside, op, side));
        match product.filter(|product| product.is_worthwhile(turns)) {
            Some(product) => {
                any = true;
                ops.extend(product.slices(rewriter, op));
            }
            None => ops.push(op.clone()),
        }
    }
    body.ops = ops;
    any
}

/// A product of a slice and an array from outside of a loop.
struct Product {
    /// The array that is sliced, and the array that does not change.
    operands: [ValueId; 2],
    /// The index of the slice.
    index: ValueId,
    dims: DotDims,
    /// The result of all slices: the first dimension is that of slices.
    all: TensorType,
    /// The number of slices, and of multiplications for each.
    slices: usize,
    multiplications: usize,
}

impl Product {
    /// The product that `op` is, if its operand `side` is a slice.
    fn new(rewriter: &Rewriter<'_>, body: &Region, inside: &HashSet<ValueId>, op: &Op, side: usize) -> Option<Product> {
        let OpKind::DotGeneral(dims) = &op.kind else { return None };
        let (part, other) = (op.operands[side], op.operands[1 - side]);
        if inside.contains(&other) || !dims.lhs_batching.is_empty() {
            return None;
        }
        let slice = match defining(body, part)? {
            Op { kind: OpKind::Reshape, operands, .. } => defining(body, operands[0])?,
            slice => slice,
        };
        let OpKind::DynamicSlice { sizes } = &slice.kind else { return None };
        let (array, starts) = slice.operands.split_first()?;
        let (ty, part) = (rewriter.tensor(*array), rewriter.tensor(part));
        if inside.contains(array) {
            return None;
        }
        let mut sliced = (0..ty.rank()).filter(|&dim| sizes[dim] != ty.dims[dim]);
        let (Some(dim), None) = (sliced.next(), sliced.next()) else { return None };
        // The part has the dimensions of the array without the sliced one.
        let mut rest = ty.dims.to_vec();
        rest.remove(dim);
        if sizes[dim] != 1 || rest[..] != part.dims[..] {
            return None;
        }
        let contracting = if side == 0 { &dims.lhs_contracting } else { &dims.rhs_contracting };
        let free = |dim: &usize| !contracting.contains(dim);
        // Slices of the result are in one piece, and in the order of the operands of each product.
        let is_first = side == 0 && (0..dim).all(|dim| !free(&dim));
        let is_vector = side == 1 && !(0..part.rank()).any(|dim| free(&dim));
        if !is_first && !is_vector {
            return None;
        }
        let contracted: usize = contracting.iter().map(|&dim| part.dims[dim]).product();
        let moved = contracting.iter().map(|&each| each + usize::from(each >= dim)).collect();
        let dims = if side == 0 {
            DotDims { lhs_contracting: moved, ..dims.clone() }
        } else {
            let DotDims { lhs_contracting: rhs_contracting, mut precision, algorithm: None, .. } = dims.clone() else {
                return None;
            };
            precision.reverse();
            let (lhs_batching, rhs_batching) = (Vec::new(), Vec::new());
            DotDims { lhs_batching, rhs_batching, lhs_contracting: moved, rhs_contracting, precision, algorithm: None }
        };
        let result = rewriter.tensor(op.results[0]);
        let slices = ty.dims[dim];
        let all = TensorType::new(result.element, std::iter::once(slices).chain(result.dims.iter().copied()));
        let multiplications = result.checked_count()?.checked_mul(contracted)?;
        Some(Product { operands: [*array, other], index: starts[dim], dims, all, slices, multiplications })
    }

    fn is_worthwhile(&self, turns: usize) -> bool {
        let fits = self.all.checked_count().is_some_and(|count| count * self.all.element.byte_width() <= MOST_BYTES);
        // A loop that takes only some of the slices would not need the others.
        fits && turns >= self.slices && self.multiplications > FEWEST
    }

    /// Emits the product of all slices, and returns the ops of the body for `op`, which takes one.
    fn slices(self, rewriter: &mut Rewriter<'_>, op: &Op) -> [Op; 2] {
        let all = rewriter.emit(OpKind::DotGeneral(self.dims), &self.operands, self.all.clone());
        let index = rewriter.tensor(self.index).clone();
        let zero = rewriter.constant(Literal::splat(index.clone(), vec![0; index.element.byte_width()]));
        let rest = std::iter::repeat_n(zero, self.all.rank() - 1);
        let mut sizes = self.all.dims.to_vec();
        sizes[0] = 1;
        let slice = rewriter.value(TensorType::new(self.all.element, sizes.iter().copied()).into());
        let &Op { location, .. } = op;
        let slice_of = [all, self.index].into_iter().chain(rest).collect();
        let make = |kind, operands, results| Op { kind, operands, results, regions: Vec::new(), location };
        let taken = make(OpKind::DynamicSlice { sizes }, slice_of, vec![slice]);
        [taken, make(OpKind::Reshape, vec![slice], op.results.clone())]
    }
}
