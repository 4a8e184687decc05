//! `getrf`: LU factorization; and what its exchanges of rows amount to.

use oxcall::prelude::*;

use super::qr::last;
use super::{C64, C128, chunks, each, expect, groups, sizes, work};
use crate::dense::factor::lu;
use crate::dense::many::{self, LANES};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

fn factor<T: Element>(
    shape: [usize; 2],
    a: &mut [T],
    (pivots, count): (&mut [i32], usize),
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let [rows, cols] = shape;
    expect("pivots", count, rows.min(cols))?;
    info.fill(0);
    if many::fits(shape, info.len())
        && let Some(a) = T::reals_mut(a)
    {
        let items = a.chunks_mut(LANES * rows * cols).zip(pivots.chunks_mut(LANES * count)).zip(info.chunks_mut(LANES));
        return groups(pool, shape, items, |((a, pivots), info)| many::lu(a, shape, pivots, info));
    }
    let items = chunks(a, rows * cols).zip(chunks(pivots, count)).zip(info);
    each(pool, (0.4 * work(shape), matrices::<T>(shape, 3)), items, |((a, pivots), info), par| {
        *info = lu(&mut Matrix::new(a, rows, cols), pivots, par);
    })
}

/// The permutation that the exchanges of LU factorizations make: row `k` with row `pivots[k]`, from 0, one after the
/// other. JAX has a loop for it on platforms without such a function.
#[custom_call(name = "lu_pivots_to_permutation")]
pub fn pivots_to_permutation(
    #[dims(..b, k)] pivots: Array<i32>,
    #[dims(..b, _)] mut permutation: Out<i32>,
) -> Result<()> {
    let [count, rows] = [last(pivots.shape()), last(permutation.shape())];
    for (index, permutation) in chunks(&mut permutation, rows).enumerate() {
        permutation.iter_mut().zip(0..).for_each(|(row, i)| *row = i);
        for (k, &pivot) in pivots[index * count..][..count].iter().enumerate() {
            let from = usize::try_from(pivot).ok().filter(|&from| from.max(k) < rows);
            let from = from.ok_or_else(|| {
                Error::invalid_argument(format!(
                    "`pivots`: row {k} is exchanged with row {pivot}, but there are {rows} rows"
                ))
            })?;
            permutation.swap(k, from);
        }
    }
    Ok(())
}

macro_rules! getrf {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// LU factorization of each matrix with partial pivoting: row `k` was exchanged with row `pivots[k]`, from 1.
        /// `info` is the place of the first zero on the diagonal of U, or 0.
        #[custom_call(name = $target)]
        pub fn $op(
            #[dims(..b, m, n)] mut a: InOut<$T>,
            #[dims(..b, _)] mut pivots: Out<i32>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let (shape, count) = (sizes(a.shape()), last(pivots.shape()));
            factor(shape, &mut a, (&mut pivots, count), &mut info, &pool)
        }
    )*};
}

getrf! {
    sgetrf "lapack_sgetrf_ffi" f32,
    dgetrf "lapack_dgetrf_ffi" f64,
    cgetrf "lapack_cgetrf_ffi" C64,
    zgetrf "lapack_zgetrf_ffi" C128,
}
