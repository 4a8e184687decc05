//! `geqrf`, `geqp3`, `orgqr` and `ormqr`: QR factorization, with and without pivoting, and its orthogonal factor.

use oxcall::prelude::*;

use super::{C64, C128, chunks, each, expect, sizes, too_many_reflectors, work};
use crate::dense::qr;
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

fn factor<T: Element>(
    shape: [usize; 2],
    a: &mut [T],
    (taus, count): (&mut [T], usize),
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let [rows, cols] = shape;
    expect("taus", count, rows.min(cols))?;
    let cost = (work(shape), matrices::<T>(shape, 2));
    each(pool, cost, chunks(a, rows * cols).zip(chunks(taus, count)), |(a, taus), par| {
        qr::factor(&mut Matrix::new(a, rows, cols), taus, par);
    })
}

fn factor_pivoted<T: Element>(
    shape: [usize; 2],
    a: &mut [T],
    pivots: &mut [i32],
    (taus, count): (&mut [T], usize),
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let [rows, cols] = shape;
    expect("taus", count, rows.min(cols))?;
    let items = chunks(a, rows * cols).zip(chunks(pivots, cols)).zip(chunks(taus, count));
    each(pool, (work(shape), matrices::<T>([rows, 1], 8)), items, |((a, pivots), taus), _| {
        qr::factor_pivoted(&mut Matrix::new(a, rows, cols), pivots, taus);
    })?;
    if rows == 0 {
        // Nothing is exchanged, but every column has a number.
        chunks(pivots, cols).for_each(|pivots| (1..).zip(pivots).for_each(|(number, pivot)| *pivot = number));
    }
    Ok(())
}

fn form_q<T: Element>(shape: [usize; 2], a: &mut [T], taus: &[T], count: usize, pool: &ThreadPool<'_>) -> Result<()> {
    let [rows, cols] = shape;
    if rows < cols || count > cols {
        return Err(too_many_reflectors(count, shape));
    }
    let taus = |index: usize| &taus[index * count..][..count];
    let cost = (work(shape), matrices::<T>(shape, 2));
    each(pool, cost, chunks(a, rows * cols).enumerate(), |(index, a), par| {
        qr::form_q(&mut Matrix::new(a, rows, cols), taus(index), par);
    })
}

/// How [`apply_q`] multiplies.
struct Product {
    left: bool,
    adjoint: bool,
}

fn apply_q<T: Element>(
    product: &Product,
    (a, shape): (&[T], [usize; 2]),
    (taus, count): (&[T], usize),
    (c, c_shape): (&mut [T], [usize; 2]),
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let [rows, cols] = shape;
    let [c_rows, c_cols] = c_shape;
    expect("rows of the reflectors", rows, if product.left { c_rows } else { c_cols })?;
    if count > cols || count > rows {
        return Err(Error::invalid_argument(format!(
            "{count} reflectors in a {rows} x {cols} matrix: expected at most {}",
            rows.min(cols)
        )));
    }
    let cost = (work(shape) + work(c_shape), matrices::<T>(shape, 2).saturating_add(matrices::<T>(c_shape, 2)));
    each(pool, cost, chunks(c, c_rows * c_cols).enumerate(), |(index, c), par| {
        let mut reflectors = a[index * rows * cols..][..rows * cols].to_vec();
        let (a, taus) = (Matrix::new(&mut reflectors, rows, cols), &taus[index * count..][..count]);
        qr::apply_q(&a, taus, &mut Matrix::new(c, c_rows, c_cols), product.left, product.adjoint, par);
    })
}

/// The last dimension.
pub(super) fn last(shape: &[usize]) -> usize {
    shape.last().copied().unwrap_or(0)
}

macro_rules! qr_targets {
    ($($geqrf:ident $geqrf_target:tt $geqp3:ident $geqp3_target:tt $orgqr:ident $orgqr_target:tt
       $ormqr:ident $ormqr_target:tt $T:ident,)*) => {$(
        /// QR factorization of each matrix: R on and above the diagonal, the reflectors below it, with `taus`.
        #[custom_call(name = $geqrf_target)]
        pub fn $geqrf(#[dims(..b, m, n)] mut a: InOut<$T>, #[dims(..b, _)] mut taus: Out<$T>, pool: ThreadPool) -> Result<()> {
            let (shape, count) = (sizes(a.shape()), last(taus.shape()));
            factor(shape, &mut a, (&mut taus, count), &pool)
        }

        /// QR factorization of each matrix with column pivoting: column `j` was column `pivots[j]`, from 1. Columns
        /// whose `pivots` are not 0 in the operand come first.
        #[custom_call(name = $geqp3_target)]
        pub fn $geqp3(
            #[dims(..b, m, n)] mut a: InOut<$T>,
            #[dims(..b, n)] mut pivots: InOut<i32>,
            #[dims(..b, _)] mut taus: Out<$T>,
            pool: ThreadPool,
        ) -> Result<()> {
            let (shape, count) = (sizes(a.shape()), last(taus.shape()));
            factor_pivoted(shape, &mut a, &mut pivots, (&mut taus, count), &pool)
        }

        /// The first columns of the orthogonal (unitary) factor whose reflectors `a` and `taus` have.
        #[custom_call(name = $orgqr_target)]
        pub fn $orgqr(#[dims(..b, m, n)] mut a: InOut<$T>, #[dims(..b, k)] taus: Array<$T>, pool: ThreadPool) -> Result<()> {
            let (shape, count) = (sizes(a.shape()), last(taus.shape()));
            form_q(shape, &mut a, &taus, count, &pool)
        }

        /// The product of each matrix `c` with the orthogonal (unitary) factor whose reflectors `a` and `taus` have, or
        /// with its adjoint if `transpose` is set; from the `left` or the right.
        #[custom_call(name = $ormqr_target)]
        pub fn $ormqr(
            #[attr] left: bool,
            #[attr] transpose: bool,
            #[dims(..b, m, n)] a: Array<$T>,
            #[dims(..b, k)] taus: Array<$T>,
            #[dims(..b, p, q)] mut c: InOut<$T>,
            pool: ThreadPool,
        ) -> Result<()> {
            let product = Product { left, adjoint: transpose };
            let (shape, count, c_shape) = (sizes(a.shape()), last(taus.shape()), sizes(c.shape()));
            apply_q(&product, (&a, shape), (&taus, count), (&mut c, c_shape), &pool)
        }
    )*};
}

qr_targets! {
    sgeqrf "lapack_sgeqrf_ffi" sgeqp3 "lapack_sgeqp3_ffi" sorgqr "lapack_sorgqr_ffi" sormqr "lapack_sormqr_ffi" f32,
    dgeqrf "lapack_dgeqrf_ffi" dgeqp3 "lapack_dgeqp3_ffi" dorgqr "lapack_dorgqr_ffi" dormqr "lapack_dormqr_ffi" f64,
    cgeqrf "lapack_cgeqrf_ffi" cgeqp3 "lapack_cgeqp3_ffi" cungqr "lapack_cungqr_ffi" cunmqr "lapack_cunmqr_ffi" C64,
    zgeqrf "lapack_zgeqrf_ffi" zgeqp3 "lapack_zgeqp3_ffi" zungqr "lapack_zungqr_ffi" zunmqr "lapack_zunmqr_ffi" C128,
}
