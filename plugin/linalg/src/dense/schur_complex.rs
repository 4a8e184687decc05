//! The Schur form of a complex Hessenberg matrix.
//!
//! The QR algorithm with single shifts of Wilkinson and deflation by the criterion of M. Ahues and F. Tisseur ("A new
//! deflation criterion for the QR algorithm", LAPACK Working Note 122, 1997), after G. H. Golub and C. F. Van Loan,
//! "Matrix Computations", section 7.5.

use num_traits::{Float, Zero};

use super::rotation::Rotation;
use crate::matrix::Matrix;
use crate::scalar::{Real, Scalar};

/// Sweeps for each eigenvalue before the algorithm gives up, and after how many an unusual shift is taken.
const SWEEPS: (usize, usize) = (30, 10);

/// Reduces `h` to triangular form, and multiplies `z` with the unitary matrix that does it from the right.
///
/// # Errors
/// If the eigenvalues before this place (from 1) do not converge.
pub fn reduce<T: Scalar>(h: &mut Matrix<'_, T>, mut z: Option<&mut Matrix<'_, T>>) -> Result<(), usize> {
    let n = h.rows();
    let mut end = n;
    let mut sweep = 0;
    while end > 0 {
        let start = (1..end).rev().find(|&k| negligible(h, k)).unwrap_or(0);
        if start > 0 {
            h[(start, start - 1)] = T::zero();
        }
        if start + 1 == end {
            (end, sweep) = (start, 0);
            continue;
        }
        sweep += 1;
        if sweep > SWEEPS.0 * n.max(10) {
            return Err(end);
        }
        let shift = if sweep.is_multiple_of(SWEEPS.1) {
            h[(end - 1, end - 1)] + T::real(h[(end - 1, end - 2)].abs1() * T::Part::of(0.75))
        } else {
            wilkinson(h, end)
        };
        let mut rotated = (h[(start, start)] - shift, h[(start + 1, start)]);
        for k in start..end - 1 {
            if k > start {
                rotated = (h[(k, k - 1)], h[(k + 1, k - 1)]);
            }
            let (rotation, length) = Rotation::zeroing(rotated.0, rotated.1);
            if k > start {
                (h[(k, k - 1)], h[(k + 1, k - 1)]) = (length, T::zero());
            }
            rotation.rows(h, k, k + 1, k..n);
            rotation.columns(h, k, k + 1, 0..(k + 3).min(end));
            if let Some(z) = z.as_deref_mut() {
                rotation.columns(z, k, k + 1, 0..n);
            }
        }
    }
    Ok(())
}

/// Whether the element left of diagonal element `k` can be set to zero.
pub fn negligible<T: Scalar>(h: &Matrix<'_, T>, k: usize) -> bool {
    let (epsilon, tiny) = (<T::Part as Float>::epsilon(), <T::Part as Float>::min_positive_value());
    let below = h[(k, k - 1)].abs1();
    if below <= tiny / epsilon * T::Part::of(h.rows() as f64) {
        return true;
    }
    let (upper, lower) = (h[(k - 1, k - 1)], h[(k, k)]);
    let mut around = upper.abs1() + lower.abs1();
    if around.is_zero() {
        if k >= 2 {
            around += h[(k - 1, k - 2)].abs1();
        }
        if k + 1 < h.rows() {
            around += h[(k + 1, k)].abs1();
        }
    }
    if below > epsilon * around {
        return false;
    }
    let above = h[(k - 1, k)].abs1();
    let (larger, smaller) = (Float::max(below, above), Float::min(below, above));
    let difference = (upper - lower).abs1();
    let (most, least) = (Float::max(lower.abs1(), difference), Float::min(lower.abs1(), difference));
    let scale = most + larger;
    smaller * (larger / scale) <= Float::max(tiny / epsilon, epsilon * (least * (most / scale)))
}

/// The eigenvalue of the last two rows and columns before `end` that is nearer to the last diagonal element.
fn wilkinson<T: Scalar>(h: &Matrix<'_, T>, end: usize) -> T {
    let (a, b) = (h[(end - 2, end - 2)], h[(end - 2, end - 1)]);
    let (c, d) = (h[(end - 1, end - 2)], h[(end - 1, end - 1)]);
    let half = T::real(T::Part::of(0.5));
    let product = b * c;
    if product == T::zero() {
        return d;
    }
    let middle = half * (a - d);
    let root = square_root(middle * middle + product);
    // Of both denominators the larger one.
    let (plus, minus) = (middle + root, middle - root);
    d - product / if plus.abs1() >= minus.abs1() { plus } else { minus }
}

/// The principal square root of a complex number.
fn square_root<T: Scalar>(x: T) -> T {
    let size = x.modulus();
    let half = T::Part::of(0.5);
    let re = Float::sqrt(Float::max(half * (size + x.re()), T::Part::zero()));
    let im = Float::sqrt(Float::max(half * (size - x.re()), T::Part::zero()));
    T::new(re, if x.im() < T::Part::zero() { -im } else { im })
}
