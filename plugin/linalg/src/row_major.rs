//! Row-major matrices for StableHLO's own ops, without a call frame.

use faer::{MatMut, MatRef};
use num_complex::Complex;

use crate::dense::factor::cholesky;
use crate::dense::many::{self, LANES, Strides};
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
    /// Cholesky factors, in place, of the matrices of `n` rows whose one triangle is in `a`; the other becomes zeros.
    /// All of a matrix that is not positive definite becomes NaN. Runs on `threads` threads of rayon.
    fn cholesky(a: &mut [Self], n: usize, lower: bool, threads: usize);

    /// Solves triangular systems in place, each with a matrix of `n` rows from `a`: the right sides in `b` have rows of
    /// `cols` elements.
    fn solve(a: &[Self], n: usize, system: System, b: &mut [Self], cols: usize, threads: usize);
}

macro_rules! elements {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            fn cholesky(a: &mut [$ty], n: usize, lower: bool, threads: usize) {
                factor(a, n, lower, threads)
            }

            fn solve(a: &[$ty], n: usize, system: System, b: &mut [$ty], cols: usize, threads: usize) {
                solve(a, n, system, b, cols, threads);
            }
        }
    )*};
}

elements!(f32, f64, Complex<f32>, Complex<f64>);

fn factor<T: Scalar>(a: &mut [T], n: usize, lower: bool, threads: usize) {
    let len = n * n;
    let work = len as f64 * n as f64;
    // The lower triangle is the upper one of the transposed matrix, and so is its factor.
    let strides = if lower { Strides::row_major(n) } else { Strides::column_major(n) };
    for group in a.chunks_mut((LANES * len).max(1)) {
        let count = group.len() / len;
        let mut minors = [0; LANES];
        if many::fits([n, n], count)
            && let Some(group) = T::reals_mut(group)
        {
            many::cholesky(group, n, strides, &mut minors[..count]);
        } else {
            for (a, minor) in group.chunks_exact_mut(len).zip(&mut minors) {
                let factored = cholesky(&mut Matrix::new(a, n, n), !lower, parallelism(threads, work));
                *minor = i32::from(factored.is_err());
            }
        }
        for (a, &minor) in group.chunks_exact_mut(len).zip(&minors) {
            if minor != 0 {
                a.fill(T::real(num_traits::Float::nan()));
                continue;
            }
            for (i, row) in a.chunks_exact_mut(n).enumerate() {
                let other = if lower { i + 1..n } else { 0..i };
                row[other].fill(T::zero());
            }
        }
    }
}

fn solve<T: Scalar>(a: &[T], n: usize, system: System, b: &mut [T], cols: usize, threads: usize) {
    if b.is_empty() {
        return;
    }
    let rows = b.len() / cols / (a.len() / (n * n));
    let work = (n * rows) as f64 * cols as f64;
    // x op(a) = b is op(a)^T x^T = b^T.
    let flip = system.transposed == system.left;
    let triangle = Triangle { lower: system.triangle.lower != flip, ..system.triangle };
    let groups = a.chunks(LANES * n * n).zip(b.chunks_mut(LANES * rows * cols));
    for (a, b) in groups {
        if many::fits([n, rows.max(cols)], a.len() / (n * n))
            && let (Some(a), Some(b)) = (T::reals(a), T::reals_mut(b))
        {
            let (a_strides, b_strides) = (Strides::row_major(n), Strides::row_major(cols));
            let a_strides = if flip { a_strides.transposed() } else { a_strides };
            let (b_strides, sides) = if system.left { (b_strides, cols) } else { (b_strides.transposed(), rows) };
            many::solve((a, a_strides), triangle, (b, b_strides), [n, sides]);
            continue;
        }
        for (a, b) in a.chunks_exact(n * n).zip(b.chunks_exact_mut(rows * cols)) {
            let a = MatRef::from_row_major_slice(a, n, n);
            let b = MatMut::from_row_major_slice_mut(b, rows, cols);
            let a = if flip { a.transpose() } else { a };
            let b = if system.left { b } else { b.transpose_mut() };
            solve_in_place(a, triangle, system.conjugate, b, parallelism(threads, work));
        }
    }
}
