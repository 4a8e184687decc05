//! The Schur form of a complex Hessenberg matrix.
//!
//! The QR algorithm with single shifts of Wilkinson, after G. H. Golub and C. F. Van Loan, "Matrix Computations",
//! section 7.5.

use num_traits::{Float, Zero};

use super::deflation::{Block, EXCEPTIONAL, Progress};
use super::rotation::Rotation;
use crate::matrix::Matrix;
use crate::scalar::{Real, Scalar};

/// Reduces `h` to triangular form, and multiplies `z` with the unitary matrix that does it from the right.
///
/// # Errors
/// If the eigenvalues before this place (from 1) do not converge.
pub fn reduce<T: Scalar>(h: &mut Matrix<'_, T>, mut z: Option<&mut Matrix<'_, T>>) -> Result<(), usize> {
    let n = h.rows();
    let mut progress = Progress::new(n);
    while let Some(Block { start, end, sweep }) = progress.next(h, 1)? {
        let Some(sweep) = sweep else { continue };
        let shift = if sweep.is_multiple_of(EXCEPTIONAL) {
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
