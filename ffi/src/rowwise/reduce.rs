//! Reductions: of a block, in lanes that vectors hold, and of the blocks of a row.

use oxcall_math::level::Level;
use oxcall_math::real::{Float, Real, SimdLane};

use super::plan::Reduce;

/// Independent partial results, two vectors of the widest kind: a chain of additions would wait for each. The number is
/// the same for all processors, since it decides how sums are rounded.
const LANES: usize = 32;

/// A reduction of the blocks of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reducer<F> {
    reduce: Reduce,
    total: F,
    /// What rounding has taken from the sum of the blocks.
    lost: F,
}

impl<F: Float> Reducer<F> {
    pub(super) fn new(reduce: Reduce) -> Self {
        let start = match reduce {
            Reduce::Sum => 0.0,
            Reduce::Max => f64::NEG_INFINITY,
        };
        Reducer { reduce, total: F::of_f64(start), lost: F::default() }
    }

    /// Adds a block.
    pub(super) fn add<L: Level>(&mut self, block: &[F]) {
        match self.reduce {
            Reduce::Sum => {
                let (total, part) = (
                    self.total,
                    fold::<F, L>(
                        block,
                        F::default(),
                        #[inline(always)]
                        |a, b| a + b,
                    ),
                );
                self.total = total + part;
                // The error of an addition: D. Knuth, "The Art of Computer Programming", volume 2, 4.2.2, theorem B.
                let added = self.total - total;
                self.lost = self.lost + ((total - (self.total - added)) + (part - added));
            }
            Reduce::Max => {
                let start = F::of_f64(f64::NEG_INFINITY);
                let part = fold::<F, L>(block, start, larger::<F, L>);
                self.total = larger::<F, L>(self.total, part);
            }
        }
    }

    /// The result of all blocks.
    pub(super) fn finish(self) -> F {
        // The errors of sums that are not finite are NaN.
        let corrected = self.total + self.lost;
        if corrected.is_nan() { self.total } else { corrected }
    }
}

#[inline(always)]
fn larger<F: Float, L: Level>(a: F, b: F) -> F {
    SimdLane::<F, L>::new(a).maximum(SimdLane::new(b)).value
}

/// All elements, combined in an order that only their number decides.
fn fold<F: Float, L: Level>(block: &[F], start: F, combine: impl Fn(F, F) -> F) -> F {
    L::enter(
        #[inline(always)]
        || {
            let mut lanes = [start; LANES];
            let (chunks, tail) = block.as_chunks::<LANES>();
            for chunk in chunks {
                for (lane, x) in lanes.iter_mut().zip(chunk) {
                    *lane = combine(*lane, *x);
                }
            }
            for (lane, x) in lanes.iter_mut().zip(tail) {
                *lane = combine(*lane, *x);
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
