//! Cholesky and LU factorization.

use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::prelude::ReborrowMut;
use faer::{MatMut, Par};
use num_traits::Zero;

use super::with_scratch;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Cholesky factorization of the hermitian matrix whose lower triangle `a` has, in place of it; what is above the diagonal
/// is overwritten. The error is the order (from 1) of the leading minor that is not positive definite.
///
/// # Errors
/// If there is such a minor, or an element of the diagonal is NaN.
pub fn cholesky<T: Scalar>(mut a: MatMut<'_, T>, par: Par) -> Result<(), usize> {
    let n = a.nrows();
    let exact = LltRegularization {
        dynamic_regularization_delta: T::Part::zero(),
        dynamic_regularization_epsilon: T::Part::zero(),
    };
    let scratch = cholesky_in_place_scratch::<T>(n, par, Default::default());
    let done = with_scratch(scratch, |stack| cholesky_in_place(a.rb_mut(), exact, par, stack, Default::default()));
    match done {
        Err(LltError::NonPositivePivot { index }) => Err(index + 1),
        // NaN passes for a pivot.
        Ok(_) => (0..n).find(|&i| !a[(i, i)].finite()).map_or(Ok(()), |i| Err(i + 1)),
    }
}

/// LU factorization with partial pivoting. Row `k` was exchanged with row `pivots[k]` (from 1), one after the other. Gives
/// the place (from 1) of the first zero on the diagonal of `U`, or 0. (LAPACK: `getrf`.)
pub fn lu<T: Scalar>(a: &mut Matrix<'_, T>, pivots: &mut [i32], par: Par) -> i32 {
    let (rows, cols) = (a.rows(), a.cols());
    let (mut order, mut inverse) = (vec![0usize; rows], vec![0usize; rows]);
    let scratch = lu_in_place_scratch::<usize, T>(rows, cols, par, Default::default());
    with_scratch(scratch, |stack| {
        lu_in_place(a.view_mut(), &mut order, &mut inverse, par, stack, Default::default());
    });
    // The exchanges that make this order of rows.
    let mut at: Vec<usize> = (0..rows).collect();
    let mut holds = at.clone();
    for (k, pivot) in pivots.iter_mut().enumerate() {
        let (row, from) = (order[k], at[order[k]]);
        *pivot = from as i32 + 1;
        at[holds[k]] = from;
        holds.swap(k, from);
        at[row] = k;
    }
    (0..pivots.len()).find(|&k| a[(k, k)].is_zero()).map_or(0, |k| k as i32 + 1)
}
