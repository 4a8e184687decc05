//! Reductions: of a block, in lanes that vectors hold, and of the blocks of a row.

use oxcall_math::level::Level;
use oxcall_math::real::Float;
use oxcall_math::with_level;

use super::plan::Reduce;

/// Independent partial results, several vectors of the widest kind: a chain of additions would wait for each. The
/// number is the same for all processors, since it decides how sums are rounded.
const LANES: usize = 32;

/// The doubles of the widest vector.
const VECTOR: usize = 8;

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

/// The sum of the elements, in doubles: of `f32` it has the digits that a difference from the mean needs. It is added
/// in an order that only their number decides.
fn sum<F: Float, L: Level>(block: &[F]) -> f64 {
    L::enter(
        #[inline(always)]
        || {
            // In the vectors of the widest kind: of a row of lanes, LLVM makes vectors of two.
            let mut vectors = [[0.0; VECTOR]; LANES / VECTOR];
            let (chunks, tail) = block.as_chunks::<LANES>();
            for chunk in chunks {
                for (vector, x) in vectors.iter_mut().zip(chunk.as_chunks::<VECTOR>().0) {
                    let x = x.map(Float::as_f64);
                    *vector = std::array::from_fn(|lane| vector[lane] + x[lane]);
                }
            }
            let mut lanes = [0.0; LANES];
            lanes.copy_from_slice(vectors.as_flattened());
            lanes.iter_mut().zip(tail).for_each(|(lane, x)| *lane += x.as_f64());
            // Half by half, each in arrays of its own, which stay in registers.
            let [total] =
                halved::<2, 1>(&halved::<4, 2>(&halved::<8, 4>(&halved::<16, 8>(&halved::<LANES, 16>(&lanes)))));
            total
        },
    )
}

/// The sums of the lanes of two halves.
#[inline(always)]
fn halved<const N: usize, const HALF: usize>(lanes: &[f64; N]) -> [f64; HALF] {
    std::array::from_fn(|lane| lanes[lane] + lanes[lane + HALF])
}

/// Fills the first elements of a block.
pub(super) fn fill<F: Float>() -> fn(&mut [F], F) {
    fn run<F: Float, L: Level>(elements: &mut [F], value: F) {
        L::enter(
            #[inline(always)]
            || elements.fill(value),
        );
    }
    with_level!(L => run::<F, L>)
}

/// The largest element; NaN if one is.
fn max<F: Float, L: Level>(block: &[F]) -> f64 {
    L::enter(
        #[inline(always)]
        || {
            let mut lanes = [F::of_f64(f64::NEG_INFINITY); LANES];
            let mut are_nan = [F::Flags::default(); LANES];
            each(
                block,
                #[inline(always)]
                |lane, x| {
                    lanes[lane] = if x > lanes[lane] { x } else { lanes[lane] };
                    are_nan[lane] = are_nan[lane] | F::flags(x.is_nan());
                },
            );
            let is_nan = are_nan.into_iter().fold(F::Flags::default(), |any, is_nan| any | is_nan);
            let largest = lanes.into_iter().map(F::as_f64).fold(f64::NEG_INFINITY, f64::max);
            if is_nan == F::Flags::default() { largest } else { f64::NAN }
        },
    )
}

/// Calls `f` with each element, and the lane that it belongs to.
#[inline(always)]
fn each<F: Float>(block: &[F], mut f: impl FnMut(usize, F)) {
    let (chunks, tail) = block.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in chunk.iter().enumerate() {
            f(lane, *x);
        }
    }
    for (lane, x) in tail.iter().enumerate() {
        f(lane, *x);
    }
}
