//! Factorizations by plain loops, for small matrices, and for what blocked algorithms do not do.

use num_traits::{Float, Zero};

use super::reflector::dot;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// The square root of a pivot of a Cholesky factorization, which must be positive and finite.
fn root<T: Scalar>(pivot: T::Part) -> Option<T::Part> {
    (pivot > T::Part::zero() && Float::is_finite(pivot)).then(|| Float::sqrt(pivot))
}

/// `x` divided by a real number.
fn over<T: Scalar>(x: T, divisor: T::Part) -> T {
    T::new(x.re() / divisor, x.im() / divisor)
}

/// `y += factor x`.
fn add<T: Scalar>(y: &mut [T], factor: T, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y = y.plus_product(factor, x));
}

/// Cholesky factorization of the hermitian matrix of which `a` has the lower triangle, in place of it. The error is the
/// order (from 1) of the leading minor that is not positive definite. (LAPACK: `potf2`.)
///
/// # Errors
/// If there is such a minor, or an element of the diagonal is NaN or infinite.
pub fn cholesky_lower<T: Scalar>(a: &mut Matrix<'_, T>) -> Result<(), usize> {
    for j in 0..a.rows() {
        let diagonal = root::<T>(a[(j, j)].re()).ok_or(j + 1)?;
        let column = &mut a.col_mut(j)[j..];
        column[0] = T::real(diagonal);
        column[1..].iter_mut().for_each(|x| *x = over(*x, diagonal));
        for k in j + 1..a.rows() {
            let (eliminated, rest) = a.two_cols(j, k);
            add(&mut rest[k..], -Scalar::conj(eliminated[k]), &eliminated[k..]);
        }
    }
    Ok(())
}

/// The same for the upper triangle.
///
/// # Errors
/// The same.
pub fn cholesky_upper<T: Scalar>(a: &mut Matrix<'_, T>) -> Result<(), usize> {
    for j in 0..a.rows() {
        for i in 0..j {
            let (left, column) = a.two_cols(i, j);
            column[i] = over(column[i] - dot(&left[..i], &column[..i]), left[i].re());
        }
        let column = a.col_mut(j);
        let diagonal = root::<T>((column[j] - dot(&column[..j], &column[..j])).re()).ok_or(j + 1)?;
        column[j] = T::real(diagonal);
    }
    Ok(())
}

/// LU factorization with partial pivoting. Row `k` was exchanged with row `pivots[k]` (from 1), one after the other.
/// Gives the place (from 1) of the first zero on the diagonal of `U`, or 0: nothing is eliminated there.
/// (LAPACK: `getf2`.)
pub fn lu<T: Scalar>(a: &mut Matrix<'_, T>, pivots: &mut [i32]) -> i32 {
    let mut zero = 0;
    for (k, pivot) in pivots.iter_mut().enumerate() {
        // NaN is greater than nothing, so another element is the pivot.
        let mut best = (0, T::Part::zero());
        for (i, x) in a.col(k)[k..].iter().enumerate() {
            let size = x.abs1();
            if size > best.1 {
                best = (i, size);
            }
        }
        *pivot = (k + best.0) as i32 + 1;
        if best.0 > 0 {
            (0..a.cols()).for_each(|j| a.col_mut(j).swap(k, k + best.0));
        }
        let diagonal = a[(k, k)];
        if diagonal.is_zero() {
            zero = if zero == 0 { k as i32 + 1 } else { zero };
            continue;
        }
        a.col_mut(k)[k + 1..].iter_mut().for_each(|x| *x = x.divided_by(diagonal));
        for j in k + 1..a.cols() {
            let (eliminated, rest) = a.two_cols(k, j);
            let factor = -rest[k];
            add(&mut rest[k + 1..], factor, &eliminated[k + 1..]);
        }
    }
    zero
}
