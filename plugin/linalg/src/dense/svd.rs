//! Singular value decomposition.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, SvdError, SvdParams, svd, svd_scratch};
use faer::{Auto, Mat, Par, Spec};

use super::scale::Scale;
use super::{DIVIDED, with_scratch};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// `a = u diag(s) vt`, with all or the first columns of `u` and rows of `vt`, as these have space for.
///
/// # Errors
/// If the algorithm does not converge.
pub fn decompose<T: Scalar>(
    a: &Matrix<'_, T>,
    s: &mut [T::Part],
    vectors: Option<(Matrix<'_, T>, Matrix<'_, T>)>,
    par: Par,
) -> Result<(), SvdError> {
    let (rows, cols) = (a.rows(), a.cols());
    let (mut memory, scale) = (a.elements().to_vec(), Scale::of(a.elements()));
    scale.apply(&mut memory);
    let a = Matrix::new(&mut memory, rows, cols);
    let compute =
        |count: usize, all: usize| if count == all { ComputeSvdVectors::Full } else { ComputeSvdVectors::Thin };
    let mut values = vec![T::zero(); s.len()];
    let (mut u, mut vt) = match vectors {
        Some((u, vt)) => (Some(u), Some(vt)),
        None => (None, None),
    };
    let mut v = vt.as_ref().map(|vt| Mat::<T>::zeros(cols, vt.rows()));
    let params = params::<T>();
    let scratch = svd_scratch::<T>(
        rows,
        cols,
        u.as_ref().map_or(ComputeSvdVectors::No, |u| compute(u.cols(), rows)),
        v.as_ref().map_or(ComputeSvdVectors::No, |v| compute(v.ncols(), cols)),
        par,
        params,
    );
    with_scratch(scratch, |stack| {
        svd(
            a.view(),
            DiagMut::from_slice_mut(&mut values),
            u.as_mut().map(Matrix::view_mut),
            v.as_mut().map(Mat::as_mut),
            par,
            stack,
            params,
        )
    })?;
    scale.undo(&mut values);
    s.iter_mut().zip(&values).for_each(|(s, value)| *s = value.re());
    if let (Some(vt), Some(v)) = (&mut vt, &v) {
        for j in 0..vt.cols() {
            vt.col_mut(j).iter_mut().enumerate().for_each(|(i, x)| *x = Scalar::conj(v[(j, i)]));
        }
    }
    Ok(())
}

/// The elements of a matrix from which on threads share the steps of its reduction to two diagonals, each of which
/// reads all of it.
const REDUCED_BY_THREADS: usize = 2048 * 2048;

/// `faer`'s parameters. Those that it would choose take up to 1.2 times as long.
fn params<T: Scalar>() -> Spec<SvdParams, T> {
    let mut params = <SvdParams as Auto<T>>::auto();
    params.recursion_threshold = DIVIDED;
    params.bidiag.par_threshold = REDUCED_BY_THREADS;
    Spec::new(params)
}
