//! `convolution`, in any layout.
//!
//! The elements that the window sees at each place are a row of a matrix, which is multiplied with the kernel, one
//! block at a time ([`patches`]). Windows of one element need no such matrix, and convolutions of single features are
//! computed directly ([`direct`]). [`geometry`] separates the roles of dimensions, so the convolutions that compute
//! gradients, with batch and features swapped, need no copies in another layout.

mod direct;
mod geometry;
mod patches;
#[cfg(test)]
mod tests;

use std::ops::Range;

use oxcall::Error;
use oxcall_hlo::{Func, Op, OpKind};

use self::geometry::{Geometry, count};
use self::patches::Place;
use super::dot::matmul::{self, Mat, MatMut, Shape};
use super::dot::{Convert, Narrow, Number, Widen, compute_type, exact_float, with_number};
use crate::kernel::{Context, Inputs, Kernel, Outputs};
use crate::memory::Scratch;
use crate::pool::Cost;

/// The number of elements in a block of the matrix of patches, and the number of its columns.
const BLOCK: (usize, usize) = (1 << 17, 1 << 10);

/// Sums that are this many times longer than the number of result rows are split among threads, instead of the rows.
const LONG_SUMS: usize = 8;

/// The kernel of a `convolution`.
///
/// # Errors
/// INTERNAL if `op` is not a convolution.
pub(super) fn make(op: &Op, func: &Func) -> Result<Box<dyn Kernel>, Error> {
    let OpKind::Convolution(dims) = &op.kind else {
        return Err(Error::internal(format!("expected convolution, got {}", op.kind.name())));
    };
    let [input, kernel, out] = super::tensors(op, func)?;
    let empty = [input, kernel, out].iter().any(|ty| ty.dims.contains(&0));
    let geometry = (!empty).then(|| Geometry::new(dims, &input.dims, &kernel.dims, &out.dims));
    let depth = geometry.as_ref().map_or(0, Geometry::depth);
    let elements = [input, kernel, out].map(|ty| ty.element);
    let compute = exact_float(elements, depth).unwrap_or_else(|| compute_type(&elements));
    Ok(with_number!(compute, C => Box::new(Convolution::<C> {
        name: format!("convolution[{}]", out.element),
        cost: Cost {
            bytes: (input.byte_size() + kernel.byte_size() + out.byte_size()) as f64,
            ..Shape { m: out.count(), n: 1, k: depth }.cost::<C>()
        },
        widen: [C::widen(input.element), C::widen(kernel.element)],
        narrow: C::narrow(out.element),
        count: out.count(),
        geometry,
    })))
}

/// A convolution whose elements are computed in `C`.
struct Convolution<C> {
    name: String,
    cost: Cost,
    widen: [Widen<C>; 2],
    narrow: Narrow<C>,
    /// The number of elements in the result.
    count: usize,
    /// `None` if an operand or the result is empty.
    geometry: Option<Geometry>,
}

impl<C: Number> Kernel for Convolution<C> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn run(&self, cx: Context<'_>, inputs: Inputs<'_>, mut outputs: Outputs<'_>) -> Result<(), Error> {
        let mut memory: [Scratch<C>; 3] = Default::default();
        let [widened_input, widened_kernel, arranged] = &mut memory;
        let Some(geometry) = &self.geometry else {
            return self.narrow.put(cx, &mut outputs, 0, self.count, |out| {
                out.fill(C::ZERO);
                Ok(())
            });
        };
        let input = self.widen[0].get(cx, inputs, 0, widened_input)?;
        let mut kernel = self.widen[1].get(cx, inputs, 1, widened_kernel)?;
        if let Some(copy) = &geometry.kernel_copy {
            *arranged = cx.scratch(kernel.len())?;
            copy.copy(kernel, arranged);
            kernel = arranged;
        }
        let job = Job { geometry, cx, input, kernel };
        self.narrow.put(cx, &mut outputs, 0, self.count, |out| job.run(self.cost, out))
    }
}

/// One run of a convolution.
struct Job<'a, C> {
    geometry: &'a Geometry,
    cx: Context<'a>,
    input: &'a [C],
    kernel: &'a [C],
}

impl<C: Number> Job<'_, C> {
    fn run(&self, cost: Cost, out: &mut [C]) -> Result<(), Error> {
        let (geometry, pool) = (self.geometry, self.cx.pool);
        let features = geometry.all_features();
        let rows = count(&geometry.rows);
        if geometry.is_direct() {
            self.run_directly(pool, cost, out);
            return Ok(());
        }
        // Contiguous pieces of the result are divided among threads; if there are few, pieces of the sums; if there are
        // none, the work on each block.
        let depth = geometry.depth();
        if geometry.outer.is_empty() && geometry.feature_stride == 1 {
            if rows * LONG_SUMS <= depth && pool.splits(cost) {
                return self.run_by_sums(cost, out);
            }
            pool.for_chunks(cost, out, features * geometry.row_unit(), |start, out| {
                let first = start / features;
                self.multiply(1, 0, [first..first + out.len() / features, 0..depth], out)
            })
        } else if count(&geometry.outer) >= 2 * pool.threads() {
            pool.for_chunks(cost, out, features * rows, |start, out| {
                let first = start / (features * rows);
                let mut parts = out.chunks_exact_mut(features * rows).enumerate();
                parts.try_for_each(|(i, out)| self.multiply(1, first + i, [0..rows, 0..depth], out))
            })
        } else {
            let threads = pool.threads_for(cost);
            let mut parts = out.chunks_exact_mut(features * rows).enumerate();
            parts.try_for_each(|(i, out)| self.multiply(threads, i, [0..rows, 0..depth], out))
        }
    }

    /// Computes the whole result, which is short, as a sum of parts of its long sums.
    fn run_by_sums(&self, cost: Cost, out: &mut [C]) -> Result<(), Error> {
        let pool = self.cx.pool;
        let (rows, depth) = (count(&self.geometry.rows), self.geometry.depth());
        let parts = 2 * pool.threads();
        let part = depth.div_ceil(parts).next_multiple_of(self.geometry.sum_unit());
        let mut sums = self.cx.filled(parts * out.len(), C::ZERO)?;
        pool.for_chunks(cost, &mut sums, out.len(), |start, sums| {
            sums.chunks_exact_mut(out.len()).enumerate().try_for_each(|(i, sums)| {
                let first = (start / out.len() + i) * part;
                self.multiply(1, 0, [0..rows, first.min(depth)..(first + part).min(depth)], sums)
            })
        })?;
        let (first, others) = sums.split_at(out.len());
        out.copy_from_slice(first);
        for sums in others.chunks_exact(out.len()) {
            out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = out.plus(sum));
        }
        Ok(())
    }

    /// Computes `rows` at index `outer` for all features, from the part `summed` of the sums; `out` begins with the
    /// first of them.
    fn multiply(
        &self,
        threads: usize,
        outer: usize,
        [rows, summed]: [Range<usize>; 2],
        out: &mut [C],
    ) -> Result<(), Error> {
        let geometry = self.geometry;
        // The last part of the sums may be empty.
        if summed.is_empty() {
            return Ok(());
        }
        let mut origin = Place::origin(geometry);
        origin.go(&geometry.outer, outer);
        let mut patches = Scratch::empty();
        for group in 0..geometry.groups {
            let input = &self.input[group * geometry.input.group..];
            let feature = group * geometry.out_features;
            let kernel = &self.kernel[feature * geometry.kernel_strides[1]..];
            let kernel = Mat::new(kernel, [geometry.depth(), geometry.out_features], geometry.kernel_strides);
            let out = &mut out[feature * geometry.feature_stride..];
            let mut out =
                MatMut::new(out, [rows.len(), geometry.out_features], [geometry.row_stride, geometry.feature_stride]);
            if let Some(seen) = geometry.whole_matrix(input, &origin, &rows) {
                let seen = seen.part([0, summed.start], [rows.len(), summed.len()]);
                let kernel = kernel.part([summed.start, 0], [summed.len(), geometry.out_features]);
                matmul::multiply(self.cx, threads, seen, kernel, out, false)?;
                continue;
            }
            let ranges = [rows.clone(), summed.clone()];
            self.multiply_blocks(threads, &origin, (input, kernel), ranges, &mut out, &mut patches)?;
        }
        Ok(())
    }

    /// Like [`multiply`](Job::multiply), for one group, by blocks of the matrix of patches.
    fn multiply_blocks(
        &self,
        threads: usize,
        origin: &Place,
        (input, kernel): (&[C], Mat<'_, C>),
        [rows, summed]: [Range<usize>; 2],
        out: &mut MatMut<'_, C>,
        patches: &mut Scratch<C>,
    ) -> Result<(), Error> {
        let geometry = self.geometry;
        // All rows if there are few, but not too few of each sum.
        let long = if rows.len() <= BLOCK.0 / 256 { (BLOCK.0 / rows.len()).min(BLOCK.1) } else { BLOCK.1 };
        let columns = summed.len().min(long.next_multiple_of(geometry.sum_unit()));
        let block = (BLOCK.0 * threads / columns).next_multiple_of(geometry.row_unit()).min(rows.len());
        let by_row = geometry.rows_are_outside();
        let row_axes = if by_row { &geometry.rows } else { &geometry.joined_rows };
        // Groups have the same size, so the first one's blocks serve all.
        if patches.is_empty() {
            *patches = self.cx.scratch(block * columns)?;
        }
        for start in rows.clone().step_by(block) {
            let part = start..(start + block).min(rows.end);
            for first in summed.clone().step_by(columns) {
                let accumulate = first > summed.start;
                let summed = first..(first + columns).min(summed.end);
                let patches = &mut patches[..part.len() * summed.len()];
                let mut sides = [(&row_axes[..], part.clone()), (&geometry.summed[..], summed.clone())];
                if !by_row {
                    sides.reverse();
                }
                let [(_, outside), (_, inside)] = &sides;
                let lines = outside.len().div_ceil(threads);
                let fill = |start: usize, patches: &mut [C]| {
                    let [(outer, outside), inner] = sides.clone();
                    let first = outside.start + start / inner.1.len();
                    let outside = first..(first + lines).min(outside.end);
                    geometry.gather(input, origin.clone(), [(outer, outside), inner], patches);
                };
                if threads == 1 {
                    fill(0, patches);
                } else {
                    self.cx.pool.split_chunks(patches, lines * inside.len(), fill);
                }
                let strides = if by_row { [summed.len(), 1] } else { [1, part.len()] };
                let seen = Mat::new(patches, [part.len(), summed.len()], strides);
                let kernel = kernel.part([first, 0], [summed.len(), geometry.out_features]);
                let out = out.part_of_rows(start - rows.start, part.len());
                matmul::multiply(self.cx, threads, seen, kernel, out, accumulate)?;
            }
        }
        Ok(())
    }
}
