//! `gees`: Schur decomposition.

use std::ops::Range;

use oxcall::prelude::*;

use super::{C64, C128, choose, chunks, each, sizes, work};
use crate::dense::scale::Scale;
use crate::dense::{hessenberg, isolated, schur_complex, schur_real};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::{Real, Scalar as Element};

/// Reduces `a` to Hessenberg form, sets `z` to what does it, and calls `triangular` with both and the rows that are not
/// triangular yet.
fn decompose<T: Element>(
    a: &mut Matrix<'_, T>,
    mut z: Option<Matrix<'_, T>>,
    triangular: impl FnOnce(&mut Matrix<'_, T>, Option<&mut Matrix<'_, T>>, Range<usize>) -> Result<(), usize>,
) -> i32 {
    let permuted = isolated::permute(a);
    let rows = permuted.rest.clone();
    let mut taus = vec![T::zero(); a.rows().saturating_sub(1)];
    hessenberg::reduce(a, rows.start, rows.end, &mut taus);
    match &mut z {
        Some(z) => hessenberg::form_q(a, &taus, z),
        None => hessenberg::clear(a),
    }
    let outcome = triangular(a, z.as_mut(), rows);
    if let Some(z) = &mut z {
        permuted.undo(z);
    }
    outcome.err().map_or(0, |place| place as i32)
}

/// The value of `info` if an element is not finite: no eigenvalue converges.
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
        let mut a = Matrix::new(a, n, n);
        if !a.is_finite() {
            *info = none_converges(n);
            return;
        }
        let mut values = vec![(T::zero(), T::zero()); n];
        let z = wants.then(|| Matrix::new(z, n, n));
        let scale = Scale::of(a.elements());
        scale.apply(a.data());
        *info = decompose(&mut a, z, |h, z, rows| schur_real::reduce(h, z, &mut values, rows));
        scale.undo(a.data());
        re.iter_mut().zip(&mut *im).zip(values).for_each(|((re, im), value)| (*re, *im) = value);
        scale.undo(re);
        scale.undo(im);
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
        let scale = Scale::of(a.elements());
        scale.apply(a.data());
        *info = decompose(&mut a, z, schur_complex::reduce);
        scale.undo(a.data());
        values.iter_mut().enumerate().for_each(|(k, value)| *value = a[(k, k)]);
    })
}

macro_rules! gees_real {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Real Schur form of each matrix in place of it, the Schur vectors if `mode` is `V`, and the eigenvalues as
        /// real and imaginary parts. `sort` has to be `N`, so none are `selected`. `info` is positive if the algorithm
        /// did not converge.
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
        /// Schur form of each matrix in place of it, the Schur vectors if `mode` is `V`, and the eigenvalues. `sort`
        /// has to be `N`, so none are `selected`. `info` is positive if the algorithm did not converge.
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
