//! Dense column-major matrices, as LAPACK has them.

use faer::{MatMut, MatRef};

use crate::scalar::Scalar;

/// A dense column-major matrix.
#[derive(Debug)]
pub struct Matrix<'a, T> {
    data: &'a mut [T],
    rows: usize,
    cols: usize,
}

impl<'a, T: Scalar> Matrix<'a, T> {
    /// The matrix of `rows` rows in `data`.
    ///
    /// # Panics
    /// If `data` has another number of elements than `rows * cols`.
    pub fn new(data: &'a mut [T], rows: usize, cols: usize) -> Matrix<'a, T> {
        assert_eq!(data.len(), rows * cols);
        Matrix { data, rows, cols }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The same matrix, for a shorter time.
    pub fn reborrow(&mut self) -> Matrix<'_, T> {
        Matrix { data: self.data, rows: self.rows, cols: self.cols }
    }

    /// All elements, column by column.
    pub fn data(&mut self) -> &mut [T] {
        self.data
    }

    /// All elements, column by column, to be read.
    pub fn elements(&self) -> &[T] {
        self.data
    }

    /// Column `j`.
    pub fn col(&self, j: usize) -> &[T] {
        &self.data[j * self.rows..][..self.rows]
    }

    /// Column `j`, to be written.
    pub fn col_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.data[j * self.rows..][..self.rows]
    }

    /// Columns `j` and `k`, which is greater.
    pub fn two_cols(&mut self, j: usize, k: usize) -> (&mut [T], &mut [T]) {
        let (left, right) = self.data.split_at_mut(k * self.rows);
        (&mut left[j * self.rows..][..self.rows], &mut right[..self.rows])
    }

    /// Exchanges two columns.
    pub fn swap_cols(&mut self, j: usize, k: usize) {
        if j != k {
            let (a, b) = self.two_cols(j.min(k), j.max(k));
            a.swap_with_slice(b);
        }
    }

    /// Makes it the identity, with zeros beside and below.
    pub fn set_identity(&mut self) {
        self.data.fill(T::zero());
        (0..self.rows.min(self.cols)).for_each(|i| self[(i, i)] = T::one());
    }

    /// Whether no element is infinite or NaN.
    pub fn is_finite(&self) -> bool {
        self.data.iter().all(|x| x.finite())
    }

    /// As faer sees it.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(self.data, self.rows, self.cols)
    }

    /// As faer sees it, to be written.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_mut(self.data, self.rows, self.cols)
    }
}

impl<T: Scalar> std::ops::Index<(usize, usize)> for Matrix<'_, T> {
    type Output = T;

    fn index(&self, (i, j): (usize, usize)) -> &T {
        debug_assert!(i < self.rows);
        &self.data[j * self.rows + i]
    }
}

impl<T: Scalar> std::ops::IndexMut<(usize, usize)> for Matrix<'_, T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        debug_assert!(i < self.rows);
        &mut self.data[j * self.rows + i]
    }
}
