//! `gtsv`: tridiagonal systems; `tridiagonal_solve_perturbed`: nearly singular ones, for inverse iteration.

use oxcall::prelude::*;

use super::{C64, C128, chunks, each, sizes};
use crate::dense::tridiagonal;
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

fn solve<T: Element>(
    [lower, diagonal, upper]: [&mut [T]; 3],
    (b, [n, cols]): (&mut [T], [usize; 2]),
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    info.fill(0);
    let diagonals = chunks(lower, n).zip(chunks(diagonal, n)).zip(chunks(upper, n));
    let items = diagonals.zip(chunks(b, n * cols)).zip(info);
    each(pool, ((n * cols) as f64 * 10.0, 0), items, |((((lower, diagonal), upper), b), info), _| {
        *info = tridiagonal::solve(lower, diagonal, upper, &mut Matrix::new(b, n, cols));
    })
}

macro_rules! gtsv {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Solves each tridiagonal system for all columns of `b`, with partial pivoting. The first element of `lower`
        /// and the last of `upper` are not read. `info` is the place of a zero pivot, or 0.
        #[custom_call(name = $target)]
        pub fn $op(
            #[dims(..b, n)] mut lower: InOut<$T>,
            #[dims(..b, n)] mut diagonal: InOut<$T>,
            #[dims(..b, n)] mut upper: InOut<$T>,
            #[dims(..b, n, k)] mut b: InOut<$T>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let shape = sizes(b.shape());
            solve([&mut lower, &mut diagonal, &mut upper], (&mut b, shape), &mut info, &pool)
        }
    )*};
}

gtsv! {
    sgtsv "lapack_sgtsv_ffi" f32,
    dgtsv "lapack_dgtsv_ffi" f64,
    cgtsv "lapack_cgtsv_ffi" C64,
    zgtsv "lapack_zgtsv_ffi" C128,
}

/// Solves each tridiagonal system for all columns of `b`, with partial pivoting, and with pivots moved away from zero
/// where the solution would overflow.
#[custom_call(name = "tridiagonal_solve_perturbed_ffi", T = [f32, f64, C64, C128])]
pub fn tridiagonal_solve_perturbed<T: Element + oxcall::element::Plain>(
    #[dims(..b, n)] lower: Array<T>,
    #[dims(..b, n)] diagonal: Array<T>,
    #[dims(..b, n)] upper: Array<T>,
    #[dims(..b, n, k)] b: Array<T>,
    #[dims(..b, n, k)] mut x: Out<T>,
    pool: ThreadPool,
) -> Result<()> {
    let [n, cols] = sizes(b.shape());
    x.copy_from_slice(&b);
    let cost = ((n * cols) as f64 * 10.0, matrices::<T>([n, 1], 6).saturating_add(matrices::<T>([cols, 1], 1)));
    each(&pool, cost, chunks(&mut x, n * cols).enumerate(), |(index, x), _| {
        let part = |diagonal: &Array<T>| diagonal[index * n..][..n].to_vec();
        let (lower, diagonal, upper) = (part(&lower), part(&diagonal), part(&upper));
        tridiagonal::solve_perturbed(&lower, &diagonal, &upper, &mut Matrix::new(x, n, cols));
    })
}
