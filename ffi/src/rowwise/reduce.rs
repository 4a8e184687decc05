//! Reductions: of a block, in lanes that vectors hold, and of the blocks of a row.

use std::array::from_fn;

use oxcall_math::level::Level;
use oxcall_math::real::Float;
use oxcall_math::with_level;

use super::plan::Reduce;

/// Independent partial results, several vectors of the widest kind: a chain of additions would wait for each. The
/// number is the same for all processors, since it decides how sums are rounded.
const LANES: usize = 32;

/// The doubles of the widest vector.
const VECTOR: usize = 8;

/// A function of the elements of a block, and of those of another one if it has two operands.
type Fold<F> = fn(&[F], &[F]) -> f64;

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
        let fold: Fold<F> = match reduce {
            Reduce::Sum => with_level!(L => sum::<F, L>),
            Reduce::SumOfProducts => with_level!(L => sum_of_products::<F, L>),
            Reduce::Max => with_level!(L => max::<F, L>),
        };
        let mut reducer = Reducer { reduce, fold, total: 0.0, lost: 0.0 };
        reducer.start();
        reducer
    }

    /// Begins a row.
    pub(super) fn start(&mut self) {
        let none = match self.reduce {
            Reduce::Sum | Reduce::SumOfProducts => 0.0,
            Reduce::Max => f64::NEG_INFINITY,
        };
        (self.total, self.lost) = (none, 0.0);
    }

    /// Adds a block, or the products of two; a reduction of one operand takes any second one.
    pub(super) fn add(&mut self, block: &[F], other: &[F]) {
        let (total, part) = (self.total, (self.fold)(block, other));
        match self.reduce {
            Reduce::Sum | Reduce::SumOfProducts => {
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

/// The sum of the elements.
fn sum<F: Float, L: Level>(block: &[F], _: &[F]) -> f64 {
    total::<F, L, 1>(
        [block],
        #[inline(always)]
        |[x]| x,
    )
}

/// Multiplies two blocks element by element, rounds each product, and adds them up.
fn sum_of_products<F: Float, L: Level>(block: &[F], other: &[F]) -> f64 {
    total::<F, L, 2>(
        [block, other],
        #[inline(always)]
        |[x, y]| x * y,
    )
}

/// The sum of a function of the elements of blocks, in doubles: of `f32` it has the digits that a difference from the
/// mean needs. It is added in an order that only their number decides.
#[inline(always)]
fn total<F: Float, L: Level, const N: usize>(blocks: [&[F]; N], term: impl Fn([F; N]) -> F) -> f64 {
    L::enter(
        #[inline(always)]
        || {
            let len = blocks[0].len();
            let blocks = blocks.map(|block| &block[..len]);
            // In the vectors of the widest kind: of a row of lanes, LLVM makes vectors of two.
            let mut vectors = [[0.0; VECTOR]; LANES / VECTOR];
            let whole = len / LANES * LANES;
            for start in (0..whole).step_by(LANES) {
                for (index, vector) in vectors.iter_mut().enumerate() {
                    let of = blocks.map(|block| block[start + index * VECTOR..].first_chunk::<VECTOR>());
                    let of = of.map(|chunk| chunk.expect("a whole chunk"));
                    let terms: [F; VECTOR] = from_fn(|lane| term(of.map(|chunk| chunk[lane])));
                    let terms = terms.map(Float::as_f64);
                    *vector = from_fn(|lane| vector[lane] + terms[lane]);
                }
            }
            let mut lanes = [0.0; LANES];
            lanes.copy_from_slice(vectors.as_flattened());
            for (lane, at) in lanes.iter_mut().zip(whole..len) {
                *lane += term(blocks.map(|block| block[at])).as_f64();
            }
            joined(
                &lanes,
                #[inline(always)]
                |a, b| a + b,
            )
        },
    )
}

/// All lanes as one by a function of two: half by half, each in arrays of its own, which stay in registers.
#[inline(always)]
fn joined<T: Copy>(lanes: &[T; LANES], join: impl Fn(T, T) -> T + Copy) -> T {
    #[inline(always)]
    fn halved<T: Copy, const N: usize, const HALF: usize>(lanes: &[T; N], join: impl Fn(T, T) -> T) -> [T; HALF] {
        from_fn(|lane| join(lanes[lane], lanes[lane + HALF]))
    }
    let eight: [T; 8] = halved(&halved::<T, LANES, 16>(lanes, join), join);
    let [one] = halved::<T, 2, 1>(&halved::<T, 4, 2>(&halved::<T, 8, 4>(&eight, join), join), join);
    one
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
fn max<F: Float, L: Level>(block: &[F], _: &[F]) -> f64 {
    L::enter(
        #[inline(always)]
        || {
            let mut lanes = [F::of_f64(f64::NEG_INFINITY); LANES];
            // Of two lanes each, for which processors have one comparison.
            let mut are_nan = [F::Flags::default(); LANES / 2];
            let (chunks, tail) = block.as_chunks::<LANES>();
            for chunk in chunks {
                lanes = from_fn(|lane| larger(lanes[lane], chunk[lane]));
                are_nan =
                    from_fn(|lane| are_nan[lane] | F::flags(chunk[lane].is_nan() | chunk[lane + LANES / 2].is_nan()));
            }
            let mut is_nan = are_nan.into_iter().fold(F::Flags::default(), |any, is_nan| any | is_nan);
            for (lane, &x) in lanes.iter_mut().zip(tail) {
                *lane = larger(*lane, x);
                is_nan = is_nan | F::flags(x.is_nan());
            }
            let largest = joined(&lanes, larger).as_f64();
            if is_nan == F::Flags::default() { largest } else { f64::NAN }
        },
    )
}

/// The larger of two numbers; the first if the second is NaN.
#[inline(always)]
fn larger<F: Float>(a: F, b: F) -> F {
    if b > a { b } else { a }
}
