//! `gehrd`: reduction to Hessenberg form.

use oxcall::prelude::*;

use super::{C64, C128, chunks, each, sizes, work};
use crate::dense::hessenberg;
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

fn reduce<T: Element>(
    [low, high]: [i32; 2],
    (a, n): (&mut [T], usize),
    taus: &mut [T],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let bounds = (usize::try_from(low).ok().filter(|&low| low >= 1), usize::try_from(high).ok());
    let valid = |(low, high): &(usize, usize)| *high <= n && *low <= (*high).max(1);
    let (low, high) = bounds.0.zip(bounds.1).filter(valid).ok_or_else(|| {
        Error::invalid_argument(format!(
            "rows {low} to {high} of a matrix of {n} rows: expected 1 <= low <= high <= {n}"
        ))
    })?;
    info.fill(0);
    let cost = (work([n, n]), matrices::<T>([n, 1], 4));
    each(pool, cost, chunks(a, n * n).zip(chunks(taus, n.saturating_sub(1))), |(a, taus), _| {
        hessenberg::reduce(&mut Matrix::new(a, n, n), low - 1, high, taus);
    })
}

macro_rules! gehrd {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Reduces rows and columns `low` to `high`, from 1, of each matrix to Hessenberg form, with the reflectors
        /// below its subdiagonal and in `taus`.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] low: i32,
            #[attr] high: i32,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b, n - 1)] mut taus: Out<$T>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let [n, _] = sizes(a.shape());
            reduce([low, high], (&mut a, n), &mut taus, &mut info, &pool)
        }
    )*};
}

gehrd! {
    sgehrd "lapack_sgehrd_ffi" f32,
    dgehrd "lapack_dgehrd_ffi" f64,
    cgehrd "lapack_cgehrd_ffi" C64,
    zgehrd "lapack_zgehrd_ffi" C128,
}
