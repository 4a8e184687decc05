//! Reductions: of a block, in lanes that vectors hold, and of the blocks of a row.

use oxcall_math::level::Level;
use oxcall_math::real::{Float, Real, SimdLane};
use oxcall_math::with_level;

use super::plan::Reduce;

/// Independent partial results, several vectors of the widest kind: a chain of additions would wait for each. The
/// number is the same for all processors, since it decides how sums are rounded.
const LANES: usize = 32;

/// A function of the elements of a block.
type Fold<F> = fn(&[F]) -> f64;

/// A reduction of the blocks of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reducer<F> {
    reduce: Reduce,
    fold: Fold<F>,
    total: f64,
    /// What rounding has taken from the sum of the blocks.
    lost: f64,
}

impl<F: Float> Reducer<F> {
    pub(super) fn new(reduce: Reduce) -> Self {
        let (fold, total): (Fold<F>, f64) = match reduce {
            Reduce::Sum => (with_level!(L => sum::<F, L>), 0.0),
            Reduce::Max => (with_level!(L => max::<F, L>), f64::NEG_INFINITY),
        };
        Reducer { reduce, fold, total, lost: 0.0 }
    }

    /// Adds a block.
    pub(super) fn add(&mut self, block: &[F]) {
        let (total, part) = (self.total, (self.fold)(block));
        match self.reduce {
            Reduce::Sum => {
                self.total = total + part;
                // The error of an addition: D. Knuth, "The Art of Computer Programming", volume 2, 4.2.2, theorem B.
                let added = self.total - total;
                self.lost += (total - (self.total - added)) + (part - added);
            }
            Reduce::Max => self.total = if part > total || part.is_nan() { part } else { total },
        }
    }

    /// The result of all blocks.
    pub(super) fn finish(self) -> f64 {
        // The errors of sums that are not finite are NaN.
        let corrected = self.total + self.lost;
        if corrected.is_nan() { self.total } else { corrected }
    }
}

/// The sum of the elements, in doubles: of `f32` it has the digits that a difference from the mean needs.
fn sum<F: Float, L: Level>(block: &[F]) -> f64 {
    fold::<F, f64, L>(
        block,
        0.0,
        #[inline(always)]
        |sum, x| sum + x.as_f64(),
        #[inline(always)]
        |a, b| a + b,
    )
}

/// The largest element; NaN if one is.
fn max<F: Float, L: Level>(block: &[F]) -> f64 {
    fold::<F, F, L>(block, F::of_f64(f64::NEG_INFINITY), larger::<F, L>, larger::<F, L>).as_f64()
}

#[inline(always)]
fn larger<F: Float, L: Level>(a: F, b: F) -> F {
    SimdLane::<F, L>::new(a).maximum(SimdLane::new(b)).value
}

/// All elements, combined in an order that only their number decides.
#[inline(always)]
fn fold<F: Float, A: Copy, L: Level>(block: &[F], start: A, add: impl Fn(A, F) -> A, combine: impl Fn(A, A) -> A) -> A {
    L::enter(
        #[inline(always)]
        || {
            let mut lanes = [start; LANES];
            let (chunks, tail) = block.as_chunks::<LANES>();
            for chunk in chunks {
                for (lane, x) in lanes.iter_mut().zip(chunk) {
                    *lane = add(*lane, *x);
                }
            }
            for (lane, x) in lanes.iter_mut().zip(tail) {
                *lane = add(*lane, *x);
            }
            let mut width = LANES;
            while width > 1 {
                width /= 2;
                for lane in 0..width {
                    lanes[lane] = combine(lanes[lane], lanes[lane + width]);
                }
            }
            lanes[0]
        },
    )
}
