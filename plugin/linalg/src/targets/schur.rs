//! `gees`: Schur decomposition.

use oxcall::prelude::*;

use super::{C64, C128, choose, chunks, each, sizes, work};
use crate::dense::{hessenberg, schur_complex, schur_real};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::{Real, Scalar as Element};

/// Reduces `a` to Hessenberg form, sets `z` to what does it, and calls `triangular` with both.
fn decompose<T: Element>(
    mut a: Matrix<'_, T>,
    mut z: Option<Matrix<'_, T>>,
    triangular: impl FnOnce(&mut Matrix<'_, T>, Option<&mut Matrix<'_, T>>) -> Result<(), usize>,
) -> i32 {
    let n = a.rows();
    let mut taus = vec![T::zero(); n.saturating_sub(1)];
    hessenberg::reduce(&mut a, 0, n, &mut taus);
    match &mut z {
        Some(z) => hessenberg::form_q(&mut a, &taus, z),
        None => hessenberg::clear(&mut a),
    }
    triangular(&mut a, z.as_mut()).err().map_or(0, |place| place as i32)
}

/// What `info` is where an element is not finite: no eigenvalue converges.
fn none_converges(n: usize) -> i32 {
    n.max(1) as i32
}

/// Whether Schur vectors are wanted.
fn wants_vectors(mode: u8, sort: u8) -> Result<bool> {
    if sort != b'N' {
        return Err(Error::unimplemented("ordering the eigenvalues of a Schur form is not supported"));
    }
    choose("mode", mode, &[(b'V', true), (b'N', false)])
}

fn real<T: Real>(
    wants: bool,
    (a, n): (&mut [T], usize),
    z: &mut [T],
    [re, im]: [&mut [T]; 2],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let values = chunks(re, n).zip(chunks(im, n));
    let items = chunks(a, n * n).zip(chunks(z, n * n)).zip(values).zip(info);
    each(pool, (10.0 * work([n, n]), matrices::<T>([n, n], 2)), items, |(((a, z), (re, im)), info), _| {
        let a = Matrix::new(a, n, n);
        if !a.is_finite() {
            *info = none_converges(n);
            return;
        }
        let mut values = vec![(T::zero(), T::zero()); n];
        let z = wants.then(|| Matrix::new(z, n, n));
        *info = decompose(a, z, |h, z| schur_real::reduce(h, z, &mut values));
        re.iter_mut().zip(im).zip(values).for_each(|((re, im), value)| (*re, *im) = value);
    })
}

fn complex<T: Element>(
    wants: bool,
    (a, n): (&mut [T], usize),
    z: &mut [T],
    values: &mut [T],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let items = chunks(a, n * n).zip(chunks(z, n * n)).zip(chunks(values, n)).zip(info);
    each(pool, (10.0 * work([n, n]), matrices::<T>([n, n], 2)), items, |(((a, z), values), info), _| {
        let mut a = Matrix::new(a, n, n);
        if !a.is_finite() {
            *info = none_converges(n);
            return;
        }
        let z = wants.then(|| Matrix::new(z, n, n));
        *info = decompose(a.reborrow(), z, schur_complex::reduce);
        values.iter_mut().enumerate().for_each(|(k, value)| *value = a[(k, k)]);
    })
}

macro_rules! gees_real {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Real Schur form of each matrix in place of it, the Schur vectors if `mode` is `V`, and the eigenvalues as real and
        /// imaginary parts. `sort` has to be `N`, so none are `selected`. `info` is positive if the algorithm did not
        /// converge.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] mode: u8,
            #[attr] sort: u8,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b, n, n)] mut z: Out<$T>,
            #[dims(..b, n)] mut re: Out<$T>,
            #[dims(..b, n)] mut im: Out<$T>,
            #[dims(..b)] mut selected: Out<i32>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let ([n, _], wants) = (sizes(a.shape()), wants_vectors(mode, sort)?);
            selected.fill(0);
            info.fill(0);
            real(wants, (&mut a, n), &mut z, [&mut re, &mut im], &mut info, &pool)
        }
    )*};
}

macro_rules! gees_complex {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Schur form of each matrix in place of it, the Schur vectors if `mode` is `V`, and the eigenvalues. `sort` has to be
        /// `N`, so none are `selected`. `info` is positive if the algorithm did not converge.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] mode: u8,
            #[attr] sort: u8,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b, n, n)] mut z: Out<$T>,
            #[dims(..b, n)] mut values: Out<$T>,
            #[dims(..b)] mut selected: Out<i32>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let ([n, _], wants) = (sizes(a.shape()), wants_vectors(mode, sort)?);
            selected.fill(0);
            info.fill(0);
            complex(wants, (&mut a, n), &mut z, &mut values, &mut info, &pool)
        }
    )*};
}

gees_real! {
    sgees "lapack_sgees_ffi" f32,
    dgees "lapack_dgees_ffi" f64,
}

gees_complex! {
    cgees "lapack_cgees_ffi" C64,
    zgees "lapack_zgees_ffi" C128,
}
