//! `potrf`: Cholesky factorization.

use oxcall::prelude::*;

use super::{C64, C128, choose, chunks, each, groups, sizes, work};
use crate::dense::factor::cholesky;
use crate::dense::many::{self, LANES, Strides};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

fn factor<T: Element>(uplo: u8, shape: [usize; 2], a: &mut [T], info: &mut [i32], pool: &ThreadPool<'_>) -> Result<()> {
    let lower = choose("uplo", uplo, &[(b'L', true), (b'U', false)])?;
    info.fill(0);
    let [rows, cols] = shape;
    if many::fits(shape, info.len())
        && let Some(a) = T::reals_mut(a)
    {
        let lower_triangle = if lower { Strides::column_major(rows) } else { Strides::row_major(cols) };
        return groups(pool, shape, a.chunks_mut(LANES * rows * cols).zip(info.chunks_mut(LANES)), |(a, info)| {
            many::cholesky(a, rows, lower_triangle, info);
        });
    }
    each(pool, (0.3 * work(shape), matrices::<T>(shape, 3)), chunks(a, rows * cols).zip(info), |(a, info), par| {
        *info = cholesky(&mut Matrix::new(a, rows, cols), lower, par).err().map_or(0, |minor| minor as i32);
    })
}

macro_rules! potrf {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Cholesky factor of each hermitian matrix, of which one triangle (`uplo`: `L`, `U`) is read and written.
        /// `info` is the order of the first leading minor that is not positive definite, or 0.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] uplo: u8,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let shape = sizes(a.shape());
            factor(uplo, shape, &mut a, &mut info, &pool)
        }
    )*};
}

potrf! {
    spotrf "lapack_spotrf_ffi" f32,
    dpotrf "lapack_dpotrf_ffi" f64,
    cpotrf "lapack_cpotrf_ffi" C64,
    zpotrf "lapack_zpotrf_ffi" C128,
}
