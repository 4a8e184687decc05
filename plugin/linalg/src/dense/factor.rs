//! Cholesky and LU factorization.

use faer::Par;
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use num_traits::Zero;

use super::{small, with_scratch};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Matrices of up to this many rows and columns are factored by plain loops: faer prepares for blocks.
const SMALL: usize = 16;

/// The same for upper triangles, whose sums along columns take longer.
const SMALL_UPPER: usize = 8;

/// Cholesky factorization of the hermitian matrix of which `a` has the lower or the upper triangle, in place of it; the
/// other triangle stays as it is. The error is the order (from 1) of the leading minor that is not positive definite.
///
/// # Errors
/// If there is such a minor, or an element of the diagonal is NaN.
pub fn cholesky<T: Scalar>(a: &mut Matrix<'_, T>, lower: bool, par: Par) -> Result<(), usize> {
    match lower {
        true if a.rows() <= SMALL => return small::cholesky_lower(a),
        false if a.rows() <= SMALL_UPPER => return small::cholesky_upper(a),
        _ => {}
    }
    // The lower triangle is the one that is factored fast; and parts of the other are overwritten.
    let n = a.rows();
    let mut elements = vec![T::zero(); n * n];
    let mut factor = Matrix::new(&mut elements, n, n);
    copy_lower(n, (a, lower), (&mut factor, true));
    let exact = LltRegularization {
        dynamic_regularization_delta: T::Part::zero(),
        dynamic_regularization_epsilon: T::Part::zero(),
    };
    let scratch = cholesky_in_place_scratch::<T>(n, par, Default::default());
    let view = factor.view_mut();
    let done = with_scratch(scratch, |stack| cholesky_in_place(view, exact, par, stack, Default::default()));
    copy_lower(n, (&factor, true), (a, lower));
    match done {
        Err(LltError::NonPositivePivot { index }) => Err(index + 1),
        // NaN passes for a pivot.
        Ok(_) => (0..n).find(|&i| !a[(i, i)].finite()).map_or(Ok(()), |i| Err(i + 1)),
    }
}

/// Copies the lower triangle of a hermitian matrix. Each side has it as such, or as the upper one.
fn copy_lower<T: Scalar>(
    n: usize,
    (from, from_lower): (&Matrix<'_, T>, bool),
    (to, to_lower): (&mut Matrix<'_, T>, bool),
) {
    if from_lower == to_lower {
        return (0..n).for_each(|j| to.col_mut(j)[j..].copy_from_slice(&from.col(j)[j..]));
    }
    // By tiles, since one side goes along columns and the other along rows.
    for (row, col) in (0..n).step_by(TILE).flat_map(|row| (0..=row).step_by(TILE).map(move |col| (row, col))) {
        for j in col..(col + TILE).min(n) {
            for i in row.max(j)..(row + TILE).min(n) {
                let place = |lower: bool| if lower { (i, j) } else { (j, i) };
                to[place(to_lower)] = Scalar::conj(from[place(from_lower)]);
            }
        }
    }
}

/// The sides of a tile; two tiles fit into the nearest cache.
const TILE: usize = 16;

/// LU factorization with partial pivoting. Row `k` was exchanged with row `pivots[k]` (from 1), one after the other.
/// Gives the place (from 1) of the first zero on the diagonal of `U`, or 0. (LAPACK: `getrf`.)
pub fn lu<T: Scalar>(a: &mut Matrix<'_, T>, pivots: &mut [i32], par: Par) -> i32 {
    let (rows, cols) = (a.rows(), a.cols());
    if rows.max(cols) <= SMALL {
        return small::lu(a, pivots);
    }
    let source = a.data().to_vec();
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
    let Some(zero) = (0..pivots.len()).find(|&k| a[(k, k)].is_zero()) else { return 0 };
    if zero + 1 < rows {
        // faer has divided by this pivot.
        a.data().copy_from_slice(&source);
        small::lu(a, pivots);
    }
    zero as i32 + 1
}
