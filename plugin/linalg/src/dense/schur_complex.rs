//! The Schur form of a complex Hessenberg matrix.
//!
//! The QR algorithm with single shifts of Wilkinson, step by step as LAPACK's `lahqr` does it: so the eigenvalues come
//! in its order, and the vectors have its phases.

use std::ops::Range;

use num_traits::{Float, Zero};

use super::deflation::{Block, EXCEPTIONAL, Progress};
use super::reflector;
use crate::matrix::Matrix;
use crate::scalar::{Real, Scalar};

/// Reduces `rows` of `h` to triangular form, and multiplies `z` with the unitary matrix that does it from the right.
/// The other rows are triangular, and what is below the diagonal of the first subdiagonal is real.
///
/// # Errors
/// If the eigenvalues before this place (from 1) do not converge.
pub fn reduce<T: Scalar>(
    h: &mut Matrix<'_, T>,
    mut z: Option<&mut Matrix<'_, T>>,
    rows: Range<usize>,
) -> Result<(), usize> {
    let mut progress = Progress::new(rows);
    while let Some(Block { start, end, sweep }) = progress.next(h, 1)? {
        let Some(sweep) = sweep else { continue };
        let shift = shift(h, start, end, sweep);
        let (first, v) = beginning(h, start, end, shift);
        let last = end - 1;
        for k in first..last {
            let mut v = if k > first { [h[(k, k - 1)], h[(k + 1, k - 1)]] } else { v };
            let [head, tail] = &mut v;
            let tau = reflector::make(head, std::slice::from_mut(tail));
            if k > first {
                (h[(k, k - 1)], h[(k + 1, k - 1)]) = (v[0], T::zero());
            }
            turn(h, z.as_deref_mut(), k, tau, v[1], last);
            if k == first && first > start {
                // The step began amid the block: what is left of it has to stay real.
                let phase = unit(T::one() - tau);
                h[(k + 1, k)] *= Scalar::conj(phase);
                if k + 2 <= last {
                    h[(k + 2, k + 1)] *= phase;
                }
                for j in (k..=last).filter(|&j| j != k + 1) {
                    scale(h, z.as_deref_mut(), j, phase, j + 1);
                }
            }
        }
        let beside = h[(last, last - 1)];
        if !beside.im().is_zero() {
            let size = beside.modulus();
            h[(last, last - 1)] = T::real(size);
            scale(h, z.as_deref_mut(), last, Scalar::conj(T::new(beside.re() / size, beside.im() / size)), last + 1);
        }
    }
    Ok(())
}

/// Multiplies row `j` from column `first` on with `phase`, and columns `j` of `h`, above the row, and `z` with its
/// conjugate.
fn scale<T: Scalar>(h: &mut Matrix<'_, T>, z: Option<&mut Matrix<'_, T>>, j: usize, phase: T, first: usize) {
    (first..h.cols()).for_each(|column| h[(j, column)] *= phase);
    let back = Scalar::conj(phase);
    h.col_mut(j)[..j].iter_mut().for_each(|x| *x *= back);
    if let Some(z) = z {
        z.col_mut(j).iter_mut().for_each(|x| *x *= back);
    }
}

/// Applies the reflector of `tau` and `(1, v)` to rows and columns `k` and `k + 1`.
fn turn<T: Scalar>(h: &mut Matrix<'_, T>, z: Option<&mut Matrix<'_, T>>, k: usize, tau: T, v: T, last: usize) {
    let beside = T::real((tau * v).re());
    for j in k..h.cols() {
        let column = h.col_mut(j);
        let sum = Scalar::conj(tau) * column[k] + beside * column[k + 1];
        column[k] -= sum;
        column[k + 1] -= sum * v;
    }
    let from_right = |a: &mut Matrix<'_, T>, count: usize| {
        let (left, right) = a.two_cols(k, k + 1);
        for (x, y) in left[..count].iter_mut().zip(&mut right[..count]) {
            let sum = tau * *x + beside * *y;
            *x -= sum;
            *y -= sum * Scalar::conj(v);
        }
    };
    from_right(h, (k + 2).min(last) + 1);
    if let Some(z) = z {
        let count = z.rows();
        from_right(z, count);
    }
}

/// The shift of a sweep: usually the eigenvalue of the last two rows and columns that is nearer to the last element.
fn shift<T: Scalar>(h: &Matrix<'_, T>, start: usize, end: usize, sweep: usize) -> T {
    let last = end - 1;
    if sweep.is_multiple_of(EXCEPTIONAL) {
        let (beside, at) = if sweep.is_multiple_of(2 * EXCEPTIONAL) {
            (h[(last, last - 1)], h[(last, last)])
        } else {
            (h[(start + 1, start)], h[(start, start)])
        };
        return T::real(T::Part::of(0.75) * Float::abs(beside.re())) + at;
    }
    let corner = h[(last, last)];
    let u = square_root(h[(last - 1, last)]) * square_root(h[(last, last - 1)]);
    if u.abs1().is_zero() {
        return corner;
    }
    let x = T::real(T::Part::of(0.5)) * (h[(last - 1, last - 1)] - corner);
    let largest = Float::max(u.abs1(), x.abs1());
    let by = |x: T, size: T::Part| T::new(x.re() / size, x.im() / size);
    let (a, b) = (by(x, largest), by(u, largest));
    let mut y = T::real(largest) * square_root(a * a + b * b);
    if !x.abs1().is_zero() {
        let direction = by(x, x.abs1());
        if direction.re() * y.re() + direction.im() * y.im() < T::Part::zero() {
            y = -y;
        }
    }
    corner - u * u.divided_by(x + y)
}

/// The row at which a sweep begins, below two small elements beside the diagonal, and what its first reflector is made
/// of.
fn beginning<T: Scalar>(h: &Matrix<'_, T>, start: usize, end: usize, shift: T) -> (usize, [T; 2]) {
    let epsilon = <T::Part as Float>::epsilon();
    let mut k = end - 2;
    loop {
        let (upper, lower) = (h[(k, k)], h[(k + 1, k + 1)]);
        let (difference, below) = (upper - shift, h[(k + 1, k)].re());
        let size = difference.abs1() + Float::abs(below);
        let (difference, below) = (T::new(difference.re() / size, difference.im() / size), below / size);
        let v = [difference, T::real(below)];
        if k == start {
            return (k, v);
        }
        let beside = Float::abs(h[(k, k - 1)].re());
        if beside * Float::abs(below) <= epsilon * (difference.abs1() * (upper.abs1() + lower.abs1())) {
            return (k, v);
        }
        k -= 1;
    }
}

/// `x` over its absolute value.
fn unit<T: Scalar>(x: T) -> T {
    let size = x.modulus();
    T::new(x.re() / size, x.im() / size)
}

/// The principal square root of a complex number.
fn square_root<T: Scalar>(x: T) -> T {
    let (zero, half) = (T::Part::zero(), T::Part::of(0.5));
    let size = x.modulus();
    if size.is_zero() {
        return T::zero();
    }
    // Of both parts the larger one, and from it the other, which would cancel.
    let larger = Float::sqrt(half * (size + Float::abs(x.re())));
    let smaller = half * Float::abs(x.im()) / larger;
    let (re, im) = if x.re() >= zero { (larger, smaller) } else { (smaller, larger) };
    T::new(re, if x.im() < zero { -im } else { im })
}
