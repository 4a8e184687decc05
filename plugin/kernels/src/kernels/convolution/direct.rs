//! Convolutions in which each feature of the result depends on few input features, such as depthwise ones. Products of
//! matrices would be one column wide, so the loops run over groups, or along the result.

use super::Job;
use super::geometry::{Geometry, Role, count};
use super::patches::{Located, Place};
use crate::kernels::dot::Number;
use crate::math::level::vectorised;
use crate::pool::{Cost, Pool};

impl Geometry {
    /// Whether loops over groups or along the result are better than products of matrices.
    pub(super) fn is_direct(&self) -> bool {
        self.groups_are_dense() || self.runs_along_result()
    }

    /// Whether neighbouring groups are neighbours in the input, the kernel and the result.
    fn groups_are_dense(&self) -> bool {
        let dense = self.input.group == 1 && self.kernel_strides[1] == 1 && self.feature_stride == 1;
        dense && self.groups >= 8 && self.out_features == 1
    }

    /// Whether there are few products for each element, and the result has long lines that share them.
    fn runs_along_result(&self) -> bool {
        let line = match self.rows.last() {
            Some(axis) if matches!(axis.role, Role::Place(_)) => axis.size,
            _ => 1,
        };
        let along = self.row_stride == 1 && line >= 8 && self.summed.last().is_none_or(|axis| axis.unit == 1);
        along && self.groups > 1 && self.out_features <= 2 && self.depth() <= 4 * line
    }
}

impl<C: Number> Job<'_, C> {
    /// The whole result, by loops.
    pub(super) fn run_directly(&self, pool: &Pool, cost: Cost, out: &mut [C]) {
        let geometry = self.geometry;
        let (features, rows) = (geometry.all_features(), count(&geometry.rows));
        // Each product takes about as long as several in a product of matrices.
        let cost = Cost { flops: cost.flops * 8.0, ..cost };
        if geometry.groups_are_dense() {
            return pool.for_chunks(cost, out, features, |start, out| {
                for (i, out) in out.chunks_exact_mut(features).enumerate() {
                    out.fill(C::ZERO);
                    self.add_groups(start / features + i, out);
                }
            });
        }
        pool.for_chunks(cost, out, rows, |start, out| {
            for (i, out) in out.chunks_exact_mut(rows).enumerate() {
                out.fill(C::ZERO);
                let line = start / rows + i;
                self.add_feature(line / features, line % features, out);
            }
        });
    }

    /// Adds one row of the result: an element for each group.
    fn add_groups(&self, row: usize, out: &mut [C]) {
        let geometry = self.geometry;
        let mut place = Place::origin(geometry);
        place.go(&geometry.rows, row);
        place.for_runs(&geometry.summed, 0..geometry.depth(), |place, run, before| {
            let Some(located) = geometry.locate(place, run) else { return };
            for i in 0..located.count {
                let input = &self.input[located.offset.wrapping_add_signed(i as isize * located.step)..];
                let summed = before + located.first + i * located.every;
                add_products(input, &self.kernel[summed * geometry.kernel_strides[0]..], out);
            }
        });
    }

    /// Adds all rows of one feature of the result.
    fn add_feature(&self, outer: usize, feature: usize, out: &mut [C]) {
        let geometry = self.geometry;
        let input = &self.input[feature / geometry.out_features * geometry.input.group..];
        let kernel = &self.kernel[feature * geometry.kernel_strides[1]..];
        let mut place = Place::origin(geometry);
        place.go(&geometry.outer, outer);
        for summed in 0..geometry.depth() {
            place.go(&geometry.summed, summed);
            let factor = kernel[summed * geometry.kernel_strides[0]];
            place.for_runs(&geometry.rows, 0..out.len(), |place, run, before| {
                if let Some(located) = geometry.locate(place, run) {
                    add_multiple(input, located, factor, &mut out[before..][..run.len]);
                }
            });
        }
    }
}

vectorised! {
/// `out[i] += a[i] * b[i]`.
fn add_products<C: Number>(a: &[C], b: &[C], out: &mut [C]) {
    let count = out.len();
    for ((out, &a), &b) in out.iter_mut().zip(&a[..count]).zip(&b[..count]) {
        *out = out.plus_product(a, b);
    }
}
}

vectorised! {
/// Adds `factor` times the elements that are not padding.
fn add_multiple<C: Number>(input: &[C], located: Located, factor: C, out: &mut [C]) {
    let Located { first, every, count, offset, step } = located;
    if every == 1 && step == 1 {
        for (out, &element) in out[first..][..count].iter_mut().zip(&input[offset..][..count]) {
            *out = out.plus_product(element, factor);
        }
        return;
    }
    for (i, out) in out[first..].iter_mut().step_by(every).take(count).enumerate() {
        *out = out.plus_product(input[offset.wrapping_add_signed(i as isize * step)], factor);
    }
}
}
