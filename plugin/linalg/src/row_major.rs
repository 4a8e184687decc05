//! Row-major matrices for StableHLO's own ops, without a call frame.

use faer::{MatMut, MatRef};
use num_complex::Complex;

use crate::dense::factor::cholesky;
use crate::dense::parallelism;
use crate::dense::triangular::{Triangle, solve_in_place};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// A system with a triangular matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// `op(a) x = b` rather than `x op(a) = b`.
    pub left: bool,
    /// The triangle of `a` that is read, and whether its diagonal counts as ones.
    pub triangle: Triangle,
    /// `op` transposes.
    pub transposed: bool,
    /// `op` conjugates.
    pub conjugate: bool,
}

/// The element types. Each is compiled here once, so that callers need not be.
pub trait Element: Scalar {
    /// Cholesky factor, in place, of the matrix of `n` rows whose one triangle is in `a`; the other becomes zeros.
    /// False if the matrix is not positive definite; then all is NaN. Runs on `threads` threads of rayon.
    fn cholesky(a: &mut [Self], n: usize, lower: bool, threads: usize) -> bool;

    /// Solves a triangular system in place: `b` has rows of `cols` elements.
    fn solve(a: &[Self], system: System, b: &mut [Self], cols: usize, threads: usize);
}

macro_rules! elements {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            fn cholesky(a: &mut [$ty], n: usize, lower: bool, threads: usize) -> bool {
                factor(a, n, lower, threads)
            }

            fn solve(a: &[$ty], system: System, b: &mut [$ty], cols: usize, threads: usize) {
                solve(a, system, b, cols, threads);
            }
        }
    )*};
}

elements!(f32, f64, Complex<f32>, Complex<f64>);

fn factor<T: Scalar>(a: &mut [T], n: usize, lower: bool, threads: usize) -> bool {
    let work = (n * n) as f64 * n as f64;
    // The lower triangle is the upper one of the transposed matrix, and so is its factor.
    if cholesky(&mut Matrix::new(a, n, n), !lower, parallelism(threads, work)).is_err() {
        a.fill(T::real(num_traits::Float::nan()));
        return false;
    }
    for (i, row) in a.chunks_exact_mut(n.max(1)).enumerate() {
        let other = if lower { i + 1..n } else { 0..i };
        row[other].fill(T::zero());
    }
    true
}

fn solve<T: Scalar>(a: &[T], system: System, b: &mut [T], cols: usize, threads: usize) {
    let rows = b.len() / cols.max(1);
    let n = if system.left { rows } else { cols };
    let work = (n * rows) as f64 * cols as f64;
    let a = MatRef::from_row_major_slice(a, n, n);
    let b = MatMut::from_row_major_slice_mut(b, rows, cols);
    // x op(a) = b is op(a)^T x^T = b^T.
    let flip = system.transposed == system.left;
    let a = if flip { a.transpose() } else { a };
    let b = if system.left { b } else { b.transpose_mut() };
    let triangle = Triangle { lower: system.triangle.lower != flip, ..system.triangle };
    solve_in_place(a, triangle, system.conjugate, b, parallelism(threads, work));
}
