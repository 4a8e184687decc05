//! Eigenvalues that a permutation of rows and columns lays bare.

use std::ops::Range;

use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// The rows and columns whose eigenvalues are still to be found, and the exchanges that brought the others to the ends.
#[derive(Debug)]
pub struct Permuted {
    /// The remaining rows: outside of them the matrix is triangular.
    pub rest: Range<usize>,
    /// With which row each row was exchanged.
    exchanged: Vec<usize>,
}

/// Exchanges rows and columns so that those that have nothing but a diagonal element come last or first. (LAPACK:
/// `gebal` with `P`.)
pub fn permute<T: Scalar>(a: &mut Matrix<'_, T>) -> Permuted {
    let n = a.rows();
    let (mut low, mut high) = (0, n);
    let mut exchanged: Vec<usize> = (0..n).collect();
    // Rows go down.
    while let Some(row) = (0..high).rev().find(|&i| (0..high).all(|j| i == j || a[(i, j)].is_zero())) {
        exchange(a, row, high - 1, low..n, high);
        exchanged[high - 1] = row;
        high -= 1;
        if high == 0 {
            return Permuted { rest: 0..1.min(n), exchanged };
        }
    }
    // Columns go left.
    while let Some(column) = (low..high).find(|&j| (low..high).all(|i| i == j || a[(i, j)].is_zero())) {
        exchange(a, column, low, low..n, high);
        exchanged[low] = column;
        low += 1;
    }
    Permuted { rest: low..high, exchanged }
}

/// Exchanges columns `j` and `k` above row `high`, and rows `j` and `k` in `columns`.
fn exchange<T: Scalar>(a: &mut Matrix<'_, T>, j: usize, k: usize, columns: Range<usize>, high: usize) {
    if j == k {
        return;
    }
    let (first, second) = a.two_cols(j.min(k), j.max(k));
    first[..high].swap_with_slice(&mut second[..high]);
    columns.for_each(|column| a.col_mut(column).swap(j, k));
}

impl Permuted {
    /// Exchanges the rows of vectors back. (LAPACK: `gebak`.)
    pub fn undo<T: Scalar>(&self, vectors: &mut Matrix<'_, T>) {
        let places = (0..self.rest.start).rev().chain(self.rest.end..vectors.rows());
        for place in places {
            let with = self.exchanged[place];
            if with != place {
                (0..vectors.cols()).for_each(|column| vectors.col_mut(column).swap(place, with));
            }
        }
    }
}
