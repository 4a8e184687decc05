//! `dot_general`: contractions of two operands.
//!
//! Both operands become batches of matrices, through strides where the dimensions allow it and by a copy where they do
//! not (`layout`). Elements are multiplied and added in one of six types (`Number`): matrices by the `gemm` crate;
//! vectors, small and narrow matrices and integers by loops of this module.

mod blocks;
mod convert;
mod few;
mod layout;
mod long;
mod loops;
#[allow(unsafe_code, reason = "calls `gemm`, which takes pointers")]
pub(super) mod matmul;
mod number;
mod small;
#[cfg(test)]
mod tests;
mod thin;
mod tiles;
mod vector;

use std::ops::Range;

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op, OpKind};

use self::layout::{Batches, Side};
use self::matmul::{MatMut, Shape};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::machine::{Block, Slot};
use crate::memory::Scratch;
use crate::pool::Cost;

pub(super) use self::convert::{Convert, Narrow, Widen, compute_type, exact_float, with_number};
pub use self::few::reads_rows;
pub(super) use self::layout::merge;
pub(super) use self::number::Number;

/// The kernel of a `dot_general`.
///
/// # Errors
/// INTERNAL if `op` is not a `dot_general`.
pub(super) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let OpKind::DotGeneral(dims) = &op.kind else {
        return Err(Error::internal(format!("expected dot_general, got {}", op.kind.name())));
    };
    let [lhs, rhs, out] = super::tensors(op, func)?;
    let (lhs_side, rhs_side, batches) = layout::sides(dims, &lhs.dims, &rhs.dims);
    let elements = [lhs, rhs, out].map(|ty| ty.element);
    let shape = Shape { m: lhs_side.free, n: rhs_side.free, k: lhs_side.contracted };
    let matrix = matrix_by_vector(&lhs_side, &rhs_side, &batches, shape);
    // Products of vectors are bound by the memory of the integers.
    let parts = convert::exact_terms(elements, shape.k).filter(|_| matrix.is_none() && shape.m.min(shape.n) > 1);
    let compute = match dims.algorithm.and_then(|algorithm| algorithm.accumulation) {
        Some(ElementType::F64) if out.element.is_float() => ElementType::F64,
        _ if parts.is_some() => ElementType::F32,
        _ => exact_float(elements, lhs_side.contracted).unwrap_or_else(|| compute_type(&elements)),
    };
    Ok(with_number!(compute, C => {
        let arithmetic = shape.cost::<C>();
        let in_blocks = parts.is_none() && elements.iter().all(|&element| C::holds(element) || small::converts(element, compute));
        Box::new(Dot::<C> {
            in_blocks: in_blocks.then_some((elements, if C::holds(out.element) { out.element } else { compute })),
            name: format!("dot[{}]", lhs.element),
            cost: Cost {
                flops: arithmetic.flops * batches.count() as f64,
                bytes: (lhs.byte_size() + rhs.byte_size() + out.byte_size()) as f64,
            },
            widen: [C::widen(lhs.element), C::widen(rhs.element)],
            narrow: C::narrow(out.element),
            lhs: lhs_side,
            rhs: rhs_side,
            batches,
            shape,
            matrix,
            parts,
        })
    }))
}

/// A contraction whose elements are computed in `C`.
struct Dot<C> {
    name: String,
    cost: Cost,
    widen: [Widen<C>; 2],
    narrow: Narrow<C>,
    lhs: Side,
    rhs: Side,
    batches: Batches,
    shape: Shape,
    /// The element types of operands and result and that of the computation, if blocks have all of them.
    in_blocks: Option<([ElementType; 3], ElementType)>,
    /// The operand that holds matrices, if the other holds vectors and both are read in place.
    matrix: Option<usize>,
    /// The number of products in the parts of sums that are added as integers, if sums have such parts.
    parts: Option<usize>,
}

/// Products of matrices and vectors with fewer results than this are split along the sums.
const MANY: usize = 64;

/// The operand that holds matrices, if the other holds vectors and both are read in place.
fn matrix_by_vector(lhs: &Side, rhs: &Side, batches: &Batches, shape: Shape) -> Option<usize> {
    let is_vector = |side: &Side| side.free == 1 && matches!(side.lines(), Some((_, false)));
    let worth = !shape.is_small() && shape.k > thin::WIDEST.0 && batches.count() * shape.m * shape.n >= MANY;
    let of = |index: usize, matrix: &Side, vector: &Side| {
        (worth && is_vector(vector) && matrix.lines().is_some()).then_some(index)
    };
    of(0, lhs, rhs).or_else(|| of(1, rhs, lhs))
}

impl<C: Convert> Kernel for Dot<C> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn generate(&self, block: &mut Block<'_>, inputs: &[Slot], outputs: &[Slot]) -> Option<()> {
        let (lhs, rhs) = (self.lhs.strides()?, self.rhs.strides()?);
        let count = self.batches.count();
        let is_small = self.shape.is_small() && !self.shape.is_long_dot() && self.matrix.is_none();
        // Products of dense columns are added up in the same order, whether they are many or few.
        let by_column = self.shape.n == 1 && self.shape.m > 1 && lhs[0] == 1;
        let by_row = self.shape.m == 1 && self.shape.n > 1 && rhs[0] == 1;
        if !(is_small || by_column || by_row) || self.shape.k == 0 || !(1..=small::MOST_BATCHES).contains(&count) {
            return None;
        }
        let ([lhs_element, rhs_element, element], compute) = self.in_blocks?;
        let starts = |operand: usize| (0..count).map(|batch| self.batches.offsets(batch)[operand]).collect();
        let products = |is_swapped: bool| {
            let Shape { m, n, k } = self.shape;
            let a = small::Matrices { slot: inputs[0], element: lhs_element, strides: lhs, starts: starts(0) };
            let b = small::Matrices { slot: inputs[1], element: rhs_element, strides: rhs, starts: starts(1) };
            let (m, n, a, b) = if is_swapped { (n, m, b, a) } else { (m, n, a, b) };
            let b = small::Matrices { strides: [b.strides[1], b.strides[0]], ..b };
            small::Products { shape: Shape { m, n, k }, compute, a, b, out: (outputs[0], element) }
        };
        // The vector by the transposed matrix.
        if by_column && products(true).generate(block).is_some() {
            return Some(());
        }
        if is_small || by_row { products(false).generate(block) } else { None }
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let count = self.batches.count() * self.shape.m * self.shape.n;
        if let Some(index) = self.matrix {
            return self.narrow.put(cx, &mut outputs, 0, count, |out| self.multiply_vectors(cx, inputs, index, out));
        }
        let mut memory: [Scratch<C>; 4] = Default::default();
        let [widened_lhs, widened_rhs, arranged_lhs, arranged_rhs] = &mut memory;
        let lhs = self.lhs.arrange(cx, self.widen[0].get(cx, inputs, 0, widened_lhs)?, arranged_lhs)?;
        let rhs = self.rhs.arrange(cx, self.widen[1].get(cx, inputs, 1, widened_rhs)?, arranged_rhs)?;
        match self.parts {
            None => self.narrow.put(cx, &mut outputs, 0, count, |out| self.compute(cx, lhs, rhs, 0..self.shape.k, out)),
            Some(terms) => self.add_parts(cx, lhs, rhs, terms, outputs.take(0)),
        }
    }
}

impl<C: Convert> Dot<C> {
    /// Multiplies matrices, which operand `index` holds, by vectors.
    fn multiply_vectors(&self, cx: Context<'_>, inputs: Inputs<'_>, index: usize, out: &mut [C]) -> Result<(), Error> {
        let (side, vectors) = if index == 0 { (&self.lhs, 1) } else { (&self.rhs, 0) };
        let mut memory = Scratch::empty();
        let vectors_of = self.widen[vectors].get(cx, inputs, vectors, &mut memory)?;
        let (stride, by_column) = side.lines().expect("it was looked at before");
        let operand = vector::Operand { inputs, index, widen: self.widen[index], stride, by_column };
        let (rows, terms) = (side.free, side.contracted);
        let threads = cx.pool.threads_for(self.cost);
        if threads > 1 && self.batches.count() == 1 && vector::divides_sums::<C>(by_column, [rows, terms]) {
            let offsets = self.batches.offsets(0);
            let vector = &vectors_of[offsets[vectors]..];
            out.fill(C::ZERO);
            return vector::add_sums(cx, threads, terms, out, |columns, sums| {
                operand.multiply(offsets[index] + columns.start * stride, &vector[columns], sums);
            });
        }
        cx.pool.for_chunks(self.cost, out, 16, |mut at, mut out| {
            while !out.is_empty() {
                let (batch, row) = (at / rows, at % rows);
                let len = (rows - row).min(out.len());
                let (part, rest) = std::mem::take(&mut out).split_at_mut(len);
                let offsets = self.batches.offsets(batch);
                let vector = &vectors_of[offsets[vectors]..][..terms];
                operand.multiply(offsets[index] + row * side.free_stride(), vector, part);
                at += part.len();
                out = rest;
            }
        });
        Ok(())
    }

    /// The operands as tiny matrices at even distances, if they are.
    fn tiny<'a>(&self, lhs: &'a [C], rhs: &'a [C]) -> Option<[loops::Tiny<'a, C>; 2]> {
        let Shape { m, n, k } = self.shape;
        let [lhs_distance, rhs_distance] = self.batches.distances()?;
        let [column, row] = self.rhs.distances();
        // Others have another order of sums.
        let is_in_order = k < loops::TINY.0 || k == loops::TINY.0 && (n == 1 || column == 1);
        (is_in_order && m * n * k <= loops::TINY.1).then_some([
            loops::Tiny { elements: lhs, strides: self.lhs.distances(), distance: lhs_distance },
            loops::Tiny { elements: rhs, strides: [row, column], distance: rhs_distance },
        ])
    }

    /// Sums of integers, whose parts of `terms` products are exact in `C`.
    fn add_parts(&self, cx: Context<'_>, lhs: &[C], rhs: &[C], terms: usize, sums: &mut [i32]) -> Result<(), Error> {
        let mut part = cx.scratch::<C>(sums.len())?;
        sums.fill(0);
        for start in (0..self.shape.k).step_by(terms) {
            self.compute(cx, lhs, rhs, start..(start + terms).min(self.shape.k), &mut part)?;
            let part: &[C] = &part;
            let cost = Cost { flops: sums.len() as f64, bytes: 12.0 * sums.len() as f64 };
            cx.pool.for_chunks(cost, sums, 64, |first, sums| C::add_to(&part[first..][..sums.len()], sums));
        }
        Ok(())
    }

    /// The sums of the products in a range of the contracted elements.
    fn compute(&self, cx: Context<'_>, lhs: &[C], rhs: &[C], terms: Range<usize>, out: &mut [C]) -> Result<(), Error> {
        let Shape { m, n, k } = Shape { k: terms.len(), ..self.shape };
        if out.is_empty() || k == 0 {
            out.fill(C::ZERO);
            return Ok(());
        }
        let operands = |batch: usize| {
            let [lhs_offset, rhs_offset] = self.batches.offsets(batch);
            let [a, b] = [self.lhs.matrix(lhs, lhs_offset), self.rhs.matrix(rhs, rhs_offset)];
            (a.part([0, terms.start], [m, k]), b.part([0, terms.start], [n, k]).transposed())
        };
        let each = |threads: usize, first: usize, out: &mut [C]| {
            out.chunks_exact_mut(m * n).enumerate().try_for_each(|(index, out)| {
                let (a, b) = operands(first + index);
                matmul::multiply(cx, threads, a, b, MatMut::row_major(out, [m, n]), false)
            })
        };
        // Few products are each split; many are divided among the threads.
        if self.batches.count() < 4 * cx.pool.threads() {
            return each(cx.pool.threads_for(self.cost), 0, out);
        }
        let tiny = self.tiny(lhs, rhs);
        cx.pool.for_chunks(self.cost, out, m * n, |start, out| {
            let first = start / (m * n);
            if let Some(operands) = tiny {
                loops::multiply_tiny(self.shape, first, operands, out);
                return Ok(());
            }
            // The others choose lanes for a matrix by a vector.
            let is_by_vector = (m == 1 || n == 1) && m * n * k > matmul::FEW;
            if self.shape.is_small() && !is_by_vector {
                loops::multiply_each(cx, self.shape, |index| operands(first + index), out)
            } else {
                each(1, first, out)
            }
        })
    }
}
