//! QR factorizations, with and without pivoting, and what their reflectors make.

use faer::Par;
use num_traits::{Float, One, Zero};

use super::reflector::{self, BLOCK, Block};
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// QR factorization: `R` on and above the diagonal, the reflectors below it and in `taus`. (LAPACK: `geqrf`.)
pub fn factor<T: Scalar>(a: &mut Matrix<'_, T>, taus: &mut [T], par: Par) {
    let (rows, cols, count) = (a.rows(), a.cols(), taus.len());
    for first in (0..count).step_by(BLOCK) {
        let end = (first + BLOCK).min(count);
        for (k, tau) in (first..end).zip(&mut taus[first..]) {
            *tau = reflect(a, k, k + 1..end);
        }
        if end < cols {
            let block = Block::new(a, first, &taus[first..end]);
            let rest = a.view_mut().submatrix_mut(first, end, rows - first, cols - end);
            block.apply_left(true, rest, par);
        }
    }
}

/// Makes column `k` that of a triangle, and applies the adjoint of the reflector to `columns`.
fn reflect<T: Scalar>(a: &mut Matrix<'_, T>, k: usize, columns: std::ops::Range<usize>) -> T {
    let (head, tail) = a.col_mut(k)[k..].split_first_mut().expect("there are as many rows as reflectors");
    let tau = reflector::make(head, tail);
    let diagonal = std::mem::replace(head, T::one());
    let v = a.col(k)[k..].to_vec();
    reflector::apply_left(Scalar::conj(tau), &v, a, k, columns);
    a[(k, k)] = diagonal;
    tau
}

/// QR factorization with column pivoting: column `j` of the result was column `pivots[j]` (from 1) before. Columns
/// whose `pivots` are not 0 at first are moved to the front and stay there. (LAPACK: `geqp3`.)
pub fn factor_pivoted<T: Scalar>(a: &mut Matrix<'_, T>, pivots: &mut [i32], taus: &mut [T]) {
    let cols = a.cols();
    let mut fixed = 0;
    for j in 0..cols {
        let free = pivots[j] == 0;
        pivots[j] = j as i32 + 1;
        if !free {
            a.swap_cols(fixed, j);
            pivots.swap(fixed, j);
            fixed += 1;
        }
    }
    let norm = |a: &Matrix<'_, T>, j: usize, from: usize| norm(&a.col(j)[from..]);
    let mut norms: Vec<[T::Part; 2]> = Vec::new();
    for k in 0..taus.len() {
        if k < fixed {
            taus[k] = reflect(a, k, k + 1..cols);
            continue;
        }
        if norms.is_empty() {
            norms = (0..cols).map(|j| if j < k { [T::Part::zero(); 2] } else { [norm(a, j, k); 2] }).collect();
        }
        let longest = (k..cols).fold(k, |best, j| if norms[j][0] > norms[best][0] { j } else { best });
        a.swap_cols(k, longest);
        pivots.swap(k, longest);
        norms[longest] = norms[k];
        taus[k] = reflect(a, k, k + 1..cols);
        // The norms of what is left follow from those before, until too many digits are lost.
        let tolerance = Float::sqrt(<T::Part as Float>::epsilon());
        for (j, norms) in norms.iter_mut().enumerate().skip(k + 1) {
            let [current, exact] = *norms;
            if current.is_zero() {
                continue;
            }
            let ratio = a[(k, j)].modulus() / current;
            let left = Float::max(T::Part::one() - ratio * ratio, T::Part::zero());
            let lost = left * (current / exact) * (current / exact);
            *norms = if lost <= tolerance { [norm(a, j, k + 1); 2] } else { [current * Float::sqrt(left), exact] };
        }
    }
}

/// The Euclidean norm, without overflow.
pub fn norm<T: Scalar>(x: &[T]) -> T::Part {
    let largest = x.iter().fold(T::Part::zero(), |most, x| Float::max(most, x.abs1()));
    if largest.is_zero() || !Float::is_finite(largest) {
        return largest;
    }
    let square = |x: T| (x.re() / largest) * (x.re() / largest) + (x.im() / largest) * (x.im() / largest);
    largest * Float::sqrt(x.iter().map(|&x| square(x)).sum::<T::Part>())
}

/// Replaces reflectors by the first columns of their product `Q`. (LAPACK: `orgqr`, `ungqr`.)
pub fn form_q<T: Scalar>(a: &mut Matrix<'_, T>, taus: &[T], par: Par) {
    let (rows, cols) = (a.rows(), a.cols());
    let blocks: Vec<(usize, Block<T>)> = blocks(a, taus).collect();
    a.set_identity();
    for (first, block) in blocks.iter().rev() {
        let part = a.view_mut().submatrix_mut(*first, *first, rows - first, cols - first);
        block.apply_left(false, part, par);
    }
}

/// Blocks of reflectors with their first row.
fn blocks<'a, T: Scalar>(a: &'a Matrix<'_, T>, taus: &'a [T]) -> impl Iterator<Item = (usize, Block<T>)> + 'a {
    taus.chunks(BLOCK).enumerate().map(|(i, taus)| (i * BLOCK, Block::new(a, i * BLOCK, taus)))
}

/// Multiplies `c` with `Q`, or its adjoint, from the left or the right. (LAPACK: `ormqr`, `unmqr`.)
pub fn apply_q<T: Scalar>(a: &Matrix<'_, T>, taus: &[T], c: &mut Matrix<'_, T>, left: bool, adjoint: bool, par: Par) {
    let mut blocks: Vec<(usize, Block<T>)> = blocks(a, taus).collect();
    if left != adjoint {
        blocks.reverse();
    }
    let (rows, cols) = (c.rows(), c.cols());
    for (first, block) in blocks {
        if left {
            block.apply_left(adjoint, c.view_mut().submatrix_mut(first, 0, rows - first, cols), par);
        } else {
            block.apply_right(adjoint, c.view_mut().submatrix_mut(0, first, rows, cols - first), par);
        }
    }
}
