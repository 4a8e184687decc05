//! The real Schur form of a real Hessenberg matrix.
//!
//! The QR algorithm with double shifts of J. G. F. Francis ("The QR transformation", 1961), after G. H. Golub and
//! C. F. Van Loan, "Matrix Computations", section 7.5. Blocks of two rows are brought into the standard form of Z. Bai and
//! J. W. Demmel ("On swapping diagonal blocks in real Schur form", 1993): a real pair of eigenvalues is separated, and
//! the diagonal of a complex pair is equal.

use num_traits::Float;

use super::deflation::{Block, EXCEPTIONAL, Progress};
use super::reflector;
use super::rotation::Rotation;
use crate::matrix::Matrix;
use crate::scalar::Real;

/// Reduces `h` to quasi-triangular form, and multiplies `z` with the orthogonal matrix that does it from the right. The
/// eigenvalues are `values[k].0 + i values[k].1`.
///
/// # Errors
/// If the eigenvalues before this place (from 1) do not converge.
pub fn reduce<T: Real>(
    h: &mut Matrix<'_, T>,
    mut z: Option<&mut Matrix<'_, T>>,
    values: &mut [(T, T)],
) -> Result<(), usize> {
    let mut progress = Progress::new(h.rows());
    while let Some(Block { start, end, sweep }) = progress.next(h, 2)? {
        let Some(sweep) = sweep else {
            if start + 1 == end {
                values[start] = (h[(start, start)], T::zero());
            } else {
                let pair = standardize(h, start, z.as_deref_mut());
                values[start..end].copy_from_slice(&pair);
            }
            continue;
        };
        let (sum, product) = shifts(h, start, end, sweep);
        double_sweep(h, z.as_deref_mut(), start, end, sum, product);
    }
    Ok(())
}

/// The sum and the product of the two shifts.
fn shifts<T: Real>(h: &Matrix<'_, T>, start: usize, end: usize, sweep: usize) -> (T, T) {
    if sweep.is_multiple_of(EXCEPTIONAL) {
        // Francis's exceptional shifts break cycles.
        let (at, near) = if sweep.is_multiple_of(2 * EXCEPTIONAL) { (start, start + 2) } else { (end - 1, end - 2) };
        let first = h[(start + 1, start)];
        let size = if at == start {
            Float::abs(first) + Float::abs(h[(near, near - 1)])
        } else {
            Float::abs(h[(at, at - 1)]) + Float::abs(h[(near, near - 1)])
        };
        let diagonal = T::of(0.75) * size + h[(at, at)];
        return (diagonal + diagonal, diagonal * diagonal + T::of(0.4375) * size * size);
    }
    let (a, b) = (h[(end - 2, end - 2)], h[(end - 2, end - 1)]);
    let (c, d) = (h[(end - 1, end - 2)], h[(end - 1, end - 1)]);
    let product = a * d - b * c;
    let middle = (a + d) * T::of(0.5);
    let discriminant = middle * middle - product;
    if discriminant < T::zero() {
        return (a + d, product);
    }
    // Of two real shifts the one nearer to the last diagonal element is taken twice.
    let root = Float::sqrt(discriminant);
    let near =
        if Float::abs(middle + root - d) < Float::abs(middle - root - d) { middle + root } else { middle - root };
    (near + near, near * near)
}

/// One implicit QR step with both shifts in rows and columns `start..end`.
fn double_sweep<T: Real>(
    h: &mut Matrix<'_, T>,
    mut z: Option<&mut Matrix<'_, T>>,
    start: usize,
    end: usize,
    sum: T,
    product: T,
) {
    let n = h.rows();
    for k in start..end - 1 {
        let size = (end - k).min(3);
        let mut v = [T::zero(); 3];
        if k == start {
            let (a, b, c) = (h[(k, k)], h[(k, k + 1)], h[(k + 1, k)]);
            v[0] = (a * (a - sum) + product) + b * c;
            v[1] = c * (a + h[(k + 1, k + 1)] - sum);
            v[2] = c * h[(k + 2, k + 1)];
        } else {
            v[..size].copy_from_slice(&h.col(k - 1)[k..k + size]);
        }
        let v = &mut v[..size];
        let (head, tail) = v.split_first_mut().expect("two or three elements");
        let tau = reflector::make(head, tail);
        if k > start {
            h.col_mut(k - 1)[k] = *head;
            h.col_mut(k - 1)[k + 1..k + size].fill(T::zero());
        }
        *head = T::of(1.0);
        reflector::apply_left(tau, v, h, k, k..n);
        reflector::apply_right(tau, v, h, 0..(k + 4).min(end), k);
        if let Some(z) = z.as_deref_mut() {
            reflector::apply_right(tau, v, z, 0..n, k);
        }
    }
}

/// Brings the two rows from `k` on into standard form, and gives their eigenvalues.
fn standardize<T: Real>(h: &mut Matrix<'_, T>, k: usize, z: Option<&mut Matrix<'_, T>>) -> [(T, T); 2] {
    let n = h.rows();
    let (a, b, c, d) = (h[(k, k)], h[(k, k + 1)], h[(k + 1, k)], h[(k + 1, k + 1)]);
    let rotation = rotation(a, b, c, d);
    rotation.rows(h, k, k + 1, k..n);
    rotation.columns(h, k, k + 1, 0..k + 2);
    if let Some(z) = z {
        rotation.columns(z, k, k + 1, 0..n);
    }
    let (b, c) = (h[(k, k + 1)], h[(k + 1, k)]);
    let (a, d) = (h[(k, k)], h[(k + 1, k + 1)]);
    // What the rotation is meant to make equal or zero is so up to rounding.
    if is_complex(a, b, c, d) {
        let middle = T::of(0.5) * (a + d);
        (h[(k, k)], h[(k + 1, k + 1)]) = (middle, middle);
        let imaginary = Float::sqrt(Float::abs(b)) * Float::sqrt(Float::abs(c));
        return [(middle, imaginary), (middle, -imaginary)];
    }
    h[(k + 1, k)] = T::zero();
    [(a, T::zero()), (d, T::zero())]
}

/// Whether the eigenvalues of `[a b; c d]` are a complex pair, after [`rotation`].
fn is_complex<T: Real>(a: T, b: T, c: T, d: T) -> bool {
    let epsilon = T::of(4.0) * <T as Float>::epsilon();
    let size = Float::max(Float::max(Float::abs(a), Float::abs(b)), Float::max(Float::abs(c), Float::abs(d)));
    Float::abs(c) > epsilon * size && b * c < T::zero() && Float::abs(a - d) <= T::of(16.0) * epsilon * size
}

/// The rotation that makes `[a b; c d]` triangular, or gives it an equal diagonal if its eigenvalues are complex.
fn rotation<T: Real>(a: T, b: T, c: T, d: T) -> Rotation<T> {
    let (zero, one, half) = (T::zero(), T::of(1.0), T::of(0.5));
    if c == zero {
        return Rotation { c: one, s: zero };
    }
    if b == zero {
        return Rotation { c: zero, s: one };
    }
    let p = half * (a - d);
    let discriminant = p * p + b * c;
    if discriminant >= zero {
        // An eigenvector of a real eigenvalue: (value - d, c).
        let root = Float::sqrt(discriminant);
        let above = if p < zero { p - root } else { p + root };
        let length = Float::hypot(above, c);
        return Rotation { c: above / length, s: c / length };
    }
    // tan(2 theta) = (a - d) / (b + c) makes the diagonal equal.
    let sum = b + c;
    let length = Float::hypot(sum, a - d);
    if length == zero {
        return Rotation { c: one, s: zero };
    }
    let (cos, sin) = (Float::abs(sum) / length, (a - d) / length * Float::signum(sum));
    let c = Float::sqrt(half * (one + cos));
    Rotation { c, s: -sin / (c + c) }
}
