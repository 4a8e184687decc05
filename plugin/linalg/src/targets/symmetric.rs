//! `syevd`, `heevd`: eigenvalues of hermitian matrices; `sytrd`, `hetrd`: their reduction to tridiagonal form.

use oxcall::prelude::*;

use super::{C64, C128, choose, chunks, each, sizes, work};
use crate::dense::symmetric::{self, Tridiagonal};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

/// The value of `info` if the algorithm did not converge.
const NOT_CONVERGED: i32 = 1;

fn is_lower(uplo: u8) -> Result<bool> {
    choose("uplo", uplo, &[(b'L', true), (b'U', false)])
}

fn eigen<T: Element>(
    [mode, uplo]: [u8; 2],
    (a, n): (&mut [T], usize),
    values: &mut [T::Part],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let vectors = choose("mode", mode, &[(b'V', true), (b'N', false)])?;
    let lower = is_lower(uplo)?;
    info.fill(0);
    let items = chunks(a, n * n).zip(chunks(values, n)).zip(info);
    each(pool, (16.0 * work([n, n]), matrices::<T>([n, n], 7)), items, |((a, values), info), par| {
        let mut a = Matrix::new(a, n, n);
        let triangle = |j: usize| if lower { j..n } else { 0..j + 1 };
        let finite = (0..n).all(|j| a.col(j)[triangle(j)].iter().all(|x| x.finite()));
        let found = finite && symmetric::eigen(&mut a, lower, values, vectors, par).is_ok();
        *info = if found { 0 } else { NOT_CONVERGED };
    })
}

fn reduce<T: Element>(
    uplo: u8,
    (a, n): (&mut [T], usize),
    [diagonal, beside]: [&mut [T::Part]; 2],
    taus: &mut [T],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let lower = is_lower(uplo)?;
    info.fill(0);
    if n == 1 {
        // There is nothing beside the diagonal, so nothing to go through it by.
        diagonal.iter_mut().zip(a).for_each(|(diagonal, a)| *diagonal = a.re());
        return Ok(());
    }
    let between = n.saturating_sub(1);
    let vectors = chunks(diagonal, n).zip(chunks(beside, between)).zip(chunks(taus, between));
    let cost = (work([n, n]), matrices::<T>([n, n], 3));
    each(pool, cost, chunks(a, n * n).zip(vectors), |(a, ((diagonal, beside), taus)), _| {
        symmetric::reduce(&mut Matrix::new(a, n, n), lower, Tridiagonal { diagonal, beside, taus });
    })
}

macro_rules! symmetric_targets {
    ($($evd:ident $evd_target:tt $trd:ident $trd_target:tt $T:ident $R:ident,)*) => {$(
        /// Eigenvalues of each hermitian matrix in ascending order, and with `mode` `V` its eigenvectors in place of
        /// it. One triangle (`uplo`: `L`, `U`) is read. `info` is positive if the algorithm did not converge.
        #[custom_call(name = $evd_target)]
        pub fn $evd(
            #[attr] mode: u8,
            #[attr] uplo: u8,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b, n)] mut values: Out<$R>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let [n, _] = sizes(a.shape());
            eigen([mode, uplo], (&mut a, n), &mut values, &mut info, &pool)
        }

        /// Reduces each hermitian matrix to tridiagonal form: its diagonal, what is beside it, and the reflectors in
        /// place of one triangle (`uplo`: `L`, `U`), with `taus`.
        #[custom_call(name = $trd_target)]
        pub fn $trd(
            #[attr] uplo: u8,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b, n)] mut diagonal: Out<$R>,
            #[dims(..b, n - 1)] mut beside: Out<$R>,
            #[dims(..b, n - 1)] mut taus: Out<$T>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let [n, _] = sizes(a.shape());
            reduce(uplo, (&mut a, n), [&mut diagonal, &mut beside], &mut taus, &mut info, &pool)
        }
    )*};
}

symmetric_targets! {
    ssyevd "lapack_ssyevd_ffi" ssytrd "lapack_ssytrd_ffi" f32 f32,
    dsyevd "lapack_dsyevd_ffi" dsytrd "lapack_dsytrd_ffi" f64 f64,
    cheevd "lapack_cheevd_ffi" chetrd "lapack_chetrd_ffi" C64 f32,
    zheevd "lapack_zheevd_ffi" zhetrd "lapack_zhetrd_ffi" C128 f64,
}
