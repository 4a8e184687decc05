//! `dot_general`: contractions of two operands.
//!
//! Both operands become batches of matrices, by strides where the dimensions allow it and by a copy where they do not
//! ([`layout`]). Elements are multiplied and added in one of six types ([`Number`]): matrices by the `gemm` crate, vectors,
//! small matrices and integers by loops of this module.

mod convert;
mod layout;
mod loops;
pub(super) mod matmul;
mod number;
#[cfg(test)]
mod tests;
mod vector;

use oxcall::Error;
use oxcall_hlo::{ElementType, Func, Op, OpKind};

use self::layout::{Batches, Side};
use self::matmul::{MatMut, Shape};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::pool::Cost;

pub(super) use self::convert::{Convert, Narrow, Widen, compute_type, with_number};
pub(super) use self::layout::{gather, merge};
pub(super) use self::number::Number;

/// The kernel of a `dot_general`.
///
/// # Errors
/// INTERNAL if `op` is another one.
pub(super) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let OpKind::DotGeneral(dims) = &op.kind else {
        return Err(Error::internal(format!("{} is no dot_general", op.kind.name())));
    };
    let [lhs, rhs, out] = super::tensors(op, func)?;
    let compute = match dims.algorithm.and_then(|algorithm| algorithm.accumulation) {
        Some(ElementType::F64) if out.element.is_float() => ElementType::F64,
        _ => compute_type(&[lhs.element, rhs.element, out.element]),
    };
    let (lhs_side, rhs_side, batches) = layout::sides(dims, &lhs.dims, &rhs.dims);
    Ok(with_number!(compute, C => {
        let shape = Shape { m: lhs_side.free, n: rhs_side.free, k: lhs_side.contracted };
        let arithmetic = shape.cost::<C>();
        Box::new(Dot::<C> {
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
}

impl<C: Number> Kernel for Dot<C> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let mut memory: [Vec<C>; 4] = Default::default();
        let [widened_lhs, widened_rhs, arranged_lhs, arranged_rhs] = &mut memory;
        let lhs = self.lhs.arrange(self.widen[0].get(cx.pool, &inputs, 0, widened_lhs), arranged_lhs);
        let rhs = self.rhs.arrange(self.widen[1].get(cx.pool, &inputs, 1, widened_rhs), arranged_rhs);
        let count = self.batches.count() * self.shape.m * self.shape.n;
        self.narrow.put(cx.pool, &mut outputs, 0, count, |out| self.compute(cx, lhs, rhs, out));
        Ok(())
    }
}

impl<C: Number> Dot<C> {
    fn compute(&self, cx: Context<'_>, lhs: &[C], rhs: &[C], out: &mut [C]) {
        let Shape { m, n, k } = self.shape;
        if out.is_empty() || k == 0 {
            return out.fill(C::ZERO);
        }
        let operands = |batch: usize| {
            let [lhs_offset, rhs_offset] = self.batches.offsets(batch);
            (self.lhs.matrix(lhs, lhs_offset), self.rhs.matrix(rhs, rhs_offset).transposed())
        };
        let each = |threads: usize, first: usize, out: &mut [C]| {
            for (index, out) in out.chunks_exact_mut(m * n).enumerate() {
                let (a, b) = operands(first + index);
                matmul::multiply(threads, a, b, MatMut::row_major(out, [m, n]), false);
            }
        };
        // Few products are split each, many among the threads.
        if self.batches.count() < 4 * cx.pool.threads() {
            return cx.pool.install(self.cost, |threads| each(threads, 0, out));
        }
        cx.pool.for_chunks(self.cost, out, m * n, |start, out| {
            let first = start / (m * n);
            if self.shape.is_small() {
                loops::multiply_each(self.shape, |index| operands(first + index), out);
            } else {
                each(1, first, out);
            }
        });
    }
}
