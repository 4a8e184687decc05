//! Elementary reflectors and blocks of them, with the conventions of LAPACK.
//!
//! A reflector is `H = I - tau v v^H` with `v[0] = 1`. Blocks are applied in the compact WY representation of
//! R. Schreiber and C. Van Loan, "A storage-efficient WY representation for products of Householder transformations"
//! (1989): `H_0 H_1 ... = I - V T V^H` with an upper triangular `T`.

use faer::linalg::matmul::matmul;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, Par};
use num_traits::{Float, One, Zero};

use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Reflectors in one block.
pub const BLOCK: usize = 32;

/// Makes the reflector with `H^H (alpha, x) = (beta, 0)` and a real `beta`. Gives `tau`; `alpha` becomes `beta`, and
/// `x` the rest of `v`. (LAPACK: `larfg`.)
pub fn make<T: Scalar>(alpha: &mut T, x: &mut [T]) -> T {
    let largest = x.iter().fold(T::Part::zero(), |most, x| Float::max(most, x.abs1()));
    if largest.is_zero() && alpha.im().is_zero() && x.iter().all(|x| x.finite()) {
        return T::zero();
    }
    // In units of the largest element nothing overflows, and nothing that matters vanishes.
    let largest = Float::max(largest, alpha.abs1());
    let unit = if Float::is_finite(largest) { largest } else { T::Part::one() };
    let scaled = |x: T| T::new(x.re() / unit, x.im() / unit);
    let head = scaled(*alpha);
    let squares = |x: T| x.re() * x.re() + x.im() * x.im();
    let norm = Float::sqrt(x.iter().map(|&x| squares(scaled(x))).sum::<T::Part>() + squares(head));
    let beta = if head.re() < T::Part::zero() { norm } else { -norm };
    let tau = T::new((beta - head.re()) / beta, -head.im() / beta);
    let factor = T::one() / (head - T::real(beta));
    x.iter_mut().for_each(|x| *x = scaled(*x) * factor);
    *alpha = T::real(beta * unit);
    tau
}

/// `a^H b`.
pub fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::zero(); 4];
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    for (a, b) in a4.iter().zip(b4) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += Scalar::conj(a) * b;
        }
    }
    a_rest.iter().zip(b_rest).for_each(|(&a, &b)| sums[0] += Scalar::conj(a) * b);
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// `y += factor x`.
pub fn add<T: Scalar>(y: &mut [T], factor: T, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y += factor * x);
}

/// Applies `I - tau v v^H` to rows `first..` of `columns` of a matrix, from the left.
pub fn apply_left<T: Scalar>(tau: T, v: &[T], a: &mut Matrix<'_, T>, first: usize, columns: std::ops::Range<usize>) {
    if tau.is_zero() {
        return;
    }
    for j in columns {
        let column = &mut a.col_mut(j)[first..][..v.len()];
        let factor = -tau * dot(v, column);
        add(column, factor, v);
    }
}

/// Applies `I - tau v v^H` to `rows` of columns `first..` of a matrix, from the right.
pub fn apply_right<T: Scalar>(tau: T, v: &[T], a: &mut Matrix<'_, T>, rows: std::ops::Range<usize>, first: usize) {
    if tau.is_zero() {
        return;
    }
    let mut sums = vec![T::zero(); rows.len()];
    for (j, &v) in v.iter().enumerate() {
        add(&mut sums, v, &a.col(first + j)[rows.clone()]);
    }
    for (j, &v) in v.iter().enumerate() {
        add(&mut a.col_mut(first + j)[rows.clone()], -tau * Scalar::conj(v), &sums);
    }
}

/// A block of reflectors: `I - V T V^H`.
pub struct Block<T: Scalar> {
    v: Mat<T>,
    t: Mat<T>,
}

impl<T: Scalar> Block<T> {
    /// The reflectors in columns `first..first + taus.len()` of `a`, each below its diagonal element; `V` has the rows
    /// from `first` on.
    pub fn new(a: &Matrix<'_, T>, first: usize, taus: &[T]) -> Block<T> {
        let (rows, count) = (a.rows() - first, taus.len());
        let v = Mat::from_fn(rows, count, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => T::zero(),
            std::cmp::Ordering::Equal => T::one(),
            std::cmp::Ordering::Greater => a[(first + i, first + j)],
        });
        let mut t = Mat::<T>::zeros(count, count);
        let mut gram = Mat::<T>::zeros(count, count);
        matmul(gram.as_mut(), Accum::Replace, v.adjoint(), v.as_ref(), T::one(), Par::Seq);
        for (i, &tau) in taus.iter().enumerate() {
            for row in 0..i {
                let sum: T = (row..i).map(|k| t[(row, k)] * gram[(k, i)]).sum();
                t[(row, i)] = -tau * sum;
            }
            t[(i, i)] = tau;
        }
        Block { v, t }
    }

    /// Applies it, or its adjoint, to `c` from the left.
    pub fn apply_left(&self, adjoint: bool, mut c: MatMut<'_, T>, par: Par) {
        let (count, cols) = (self.t.nrows(), c.ncols());
        let (mut sums, mut turned) = (Mat::<T>::zeros(count, cols), Mat::<T>::zeros(count, cols));
        matmul(sums.as_mut(), Accum::Replace, self.v.adjoint(), c.rb(), T::one(), par);
        if adjoint {
            matmul(turned.as_mut(), Accum::Replace, self.t.adjoint(), sums.as_ref(), T::one(), par);
        } else {
            matmul(turned.as_mut(), Accum::Replace, self.t.as_ref(), sums.as_ref(), T::one(), par);
        }
        matmul(c.rb_mut(), Accum::Add, self.v.as_ref(), turned.as_ref(), -T::one(), par);
    }

    /// Applies it, or its adjoint, to `c` from the right.
    pub fn apply_right(&self, adjoint: bool, mut c: MatMut<'_, T>, par: Par) {
        let (count, rows) = (self.t.nrows(), c.nrows());
        let (mut sums, mut turned) = (Mat::<T>::zeros(rows, count), Mat::<T>::zeros(rows, count));
        matmul(sums.as_mut(), Accum::Replace, c.rb(), self.v.as_ref(), T::one(), par);
        if adjoint {
            matmul(turned.as_mut(), Accum::Replace, sums.as_ref(), self.t.adjoint(), T::one(), par);
        } else {
            matmul(turned.as_mut(), Accum::Replace, sums.as_ref(), self.t.as_ref(), T::one(), par);
        }
        matmul(c.rb_mut(), Accum::Add, turned.as_ref(), self.v.adjoint(), -T::one(), par);
    }
}
