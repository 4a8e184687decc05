//! The real Schur form of a real Hessenberg matrix.
//!
//! The QR algorithm with double shifts of J. G. F. Francis ("The QR transformation", 1961), step by step as LAPACK's
//! `lahqr` does it, and blocks of two rows in the standard form of its `lanv2`: so the eigenvalues come in its order,
//! and the vectors have its signs.

use std::ops::Range;

use num_traits::Float;

use super::deflation::{Block, EXCEPTIONAL, Progress};
use super::reflector;
use super::standard::standardize;
use crate::matrix::Matrix;
use crate::scalar::Real;

/// Reduces `rows` of `h` to quasi-triangular form, and multiplies `z` with the orthogonal matrix that does it from the
/// right. The other rows are triangular. The eigenvalues are `values[k].0 + i values[k].1`.
///
/// # Errors
/// If the eigenvalues before this place (from 1) do not converge.
pub fn reduce<T: Real>(
    h: &mut Matrix<'_, T>,
    mut z: Option<&mut Matrix<'_, T>>,
    values: &mut [(T, T)],
    rows: Range<usize>,
) -> Result<(), usize> {
    values.iter_mut().enumerate().for_each(|(k, value)| *value = (h[(k, k)], T::zero()));
    let mut progress = Progress::new(rows);
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
        let shifts = shifts(h, start, end, sweep);
        double_sweep(h, z.as_deref_mut(), start, end, shifts);
    }
    Ok(())
}

/// Two shifts, which are real or a complex pair.
#[derive(Debug, Clone, Copy)]
struct Shifts<T> {
    re: [T; 2],
    /// The imaginary part of the first; the second has its opposite.
    im: T,
}

/// The shifts of a sweep: usually the eigenvalues of the last two rows and columns.
fn shifts<T: Real>(h: &Matrix<'_, T>, start: usize, end: usize, sweep: usize) -> Shifts<T> {
    let last = end - 1;
    let exceptional = |size: T, at: T| {
        let diagonal = T::of(0.75) * size + at;
        [diagonal, T::of(-0.4375) * size, size, diagonal]
    };
    let beside = |k: usize| Float::abs(h[(k, k - 1)]);
    let [a, b, c, d] = match sweep {
        _ if sweep.is_multiple_of(2 * EXCEPTIONAL) => exceptional(beside(last) + beside(last - 1), h[(last, last)]),
        _ if sweep.is_multiple_of(EXCEPTIONAL) => exceptional(beside(start + 1) + beside(start + 2), h[(start, start)]),
        _ => [h[(last - 1, last - 1)], h[(last - 1, last)], h[(last, last - 1)], h[(last, last)]],
    };
    let size = Float::abs(a) + Float::abs(b) + Float::abs(c) + Float::abs(d);
    if size == T::zero() {
        return Shifts { re: [T::zero(); 2], im: T::zero() };
    }
    let [a, b, c, d] = [a / size, b / size, c / size, d / size];
    let middle = (a + d) * T::of(0.5);
    let determinant = (a - middle) * (d - middle) - b * c;
    let root = Float::sqrt(Float::abs(determinant));
    if determinant >= T::zero() {
        return Shifts { re: [middle * size; 2], im: root * size };
    }
    // Of two real shifts the one nearer to the last diagonal element is taken twice.
    let (plus, minus) = (middle + root, middle - root);
    let near = if Float::abs(plus - d) <= Float::abs(minus - d) { plus } else { minus };
    Shifts { re: [near * size; 2], im: T::zero() }
}

/// The row at which a sweep begins, below two small elements beside the diagonal, and what its first reflector is made
/// of.
fn beginning<T: Real>(h: &Matrix<'_, T>, start: usize, end: usize, shifts: Shifts<T>) -> (usize, [T; 3]) {
    let Shifts { re: [first, second], im } = shifts;
    let epsilon = <T as Float>::epsilon();
    let mut k = end - 3;
    loop {
        let (upper, lower) = (h[(k, k)], h[(k + 1, k + 1)]);
        let size = Float::abs(upper - second) + Float::abs(im) + Float::abs(h[(k + 1, k)]);
        let below = h[(k + 1, k)] / size;
        let v = [
            below * h[(k, k + 1)] + (upper - first) * ((upper - second) / size) + im * (im / size),
            below * (upper + lower - first - second),
            below * h[(k + 2, k + 1)],
        ];
        let size = Float::abs(v[0]) + Float::abs(v[1]) + Float::abs(v[2]);
        let v = v.map(|x| x / size);
        if k == start {
            return (k, v);
        }
        let around = Float::abs(h[(k - 1, k - 1)]) + Float::abs(upper) + Float::abs(lower);
        let beside = Float::abs(h[(k, k - 1)]) * (Float::abs(v[1]) + Float::abs(v[2]));
        if beside <= epsilon * Float::abs(v[0]) * around {
            return (k, v);
        }
        k -= 1;
    }
}

/// One implicit QR step with both shifts in rows and columns `start..end`.
fn double_sweep<T: Real>(
    h: &mut Matrix<'_, T>,
    mut z: Option<&mut Matrix<'_, T>>,
    start: usize,
    end: usize,
    shifts: Shifts<T>,
) {
    let n = h.rows();
    let (first, begin) = beginning(h, start, end, shifts);
    for k in first..end - 1 {
        let size = (end - k).min(3);
        let mut v = begin;
        if k > first {
            v[..size].copy_from_slice(&h.col(k - 1)[k..k + size]);
        }
        let v = &mut v[..size];
        let (head, tail) = v.split_first_mut().expect("two or three elements");
        let tau = reflector::make(head, tail);
        if k > first {
            h.col_mut(k - 1)[k] = *head;
            h.col_mut(k - 1)[k + 1..k + size].fill(T::zero());
        } else if k > start {
            // The step began amid the block.
            h[(k, k - 1)] *= T::of(1.0) - tau;
        }
        *head = T::of(1.0);
        reflector::apply_left(tau, v, h, k, k..n);
        reflector::apply_right(tau, v, h, 0..(k + 4).min(end), k);
        if let Some(z) = z.as_deref_mut() {
            reflector::apply_right(tau, v, z, 0..n, k);
        }
    }
}
