//! Tridiagonal systems, by Gaussian elimination with partial pivoting.

use num_traits::{Float, One, Zero};

use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Solves a tridiagonal system for each column of `b`. The diagonals have `n` elements each: `lower[0]` and
/// `upper[n - 1]` are not read. They become those of the triangle `U`: `diagonal`, `upper`, and from `lower[1]` on its
/// second superdiagonal. Gives the place (from 1) of a zero on the diagonal of `U`, or 0. (LAPACK: `gtsv`.)
pub fn solve<T: Scalar>(lower: &mut [T], diagonal: &mut [T], upper: &mut [T], b: &mut Matrix<'_, T>) -> i32 {
    let n = diagonal.len();
    eliminate(lower, diagonal, upper, b);
    if let Some(k) = diagonal.iter().position(Zero::is_zero) {
        return k as i32 + 1;
    }
    for j in 0..b.cols() {
        let x = b.col_mut(j);
        for k in (0..n).rev() {
            x[k] = above(lower, upper, k, x) / diagonal[k];
        }
    }
    0
}

/// The rest of the right side in row `k`, given the elements of `x` below it.
fn above<T: Scalar>(second: &[T], upper: &[T], k: usize, x: &[T]) -> T {
    let mut rest = x[k];
    if k + 1 < x.len() {
        rest -= upper[k] * x[k + 1];
    }
    if k + 2 < x.len() {
        rest -= second[k + 1] * x[k + 2];
    }
    rest
}

/// Makes the system an upper triangular one with two superdiagonals.
fn eliminate<T: Scalar>(lower: &mut [T], diagonal: &mut [T], upper: &mut [T], b: &mut Matrix<'_, T>) {
    let n = diagonal.len();
    for k in 0..n.saturating_sub(1) {
        let below = lower[k + 1];
        let last = k + 2 == n;
        if diagonal[k].abs1() >= below.abs1() {
            lower[k + 1] = T::zero();
            if diagonal[k].is_zero() {
                continue;
            }
            let factor = below / diagonal[k];
            diagonal[k + 1] -= factor * upper[k];
            for j in 0..b.cols() {
                let x = b.col_mut(j);
                x[k + 1] -= factor * x[k];
            }
        } else {
            let factor = diagonal[k] / below;
            diagonal[k] = below;
            let next = diagonal[k + 1];
            diagonal[k + 1] = upper[k] - factor * next;
            upper[k] = next;
            lower[k + 1] = if last { T::zero() } else { upper[k + 1] };
            if !last {
                upper[k + 1] = -factor * upper[k + 1];
            }
            for j in 0..b.cols() {
                let x = b.col_mut(j);
                (x[k], x[k + 1]) = (x[k + 1], x[k] - factor * x[k + 1]);
            }
        }
    }
}

/// As [`solve`], but pivots so small that the solution would overflow are moved away from zero, as LAPACK's `lagts`
/// does: for inverse iteration, which wants a solution of nearly singular systems.
pub fn solve_perturbed<T: Scalar>(lower: &[T], diagonal: &[T], upper: &[T], b: &mut Matrix<'_, T>) {
    let (mut lower, mut diagonal, mut upper) = (lower.to_vec(), diagonal.to_vec(), upper.to_vec());
    let n = diagonal.len();
    eliminate(&mut lower, &mut diagonal, &mut upper, b);
    let elements = diagonal.iter().chain(&upper[..n.saturating_sub(1)]).chain(lower.get(1..).unwrap_or_default());
    let largest = elements.fold(T::Part::zero(), |most, x| Float::max(most, x.modulus()));
    let epsilon = <T::Part as Float>::epsilon();
    let perturbation = if largest.is_zero() { epsilon } else { epsilon * largest };
    for k in (0..n).rev() {
        let mut row: Vec<T> = (0..b.cols()).map(|j| above(&lower, &upper, k, b.col(j))).collect();
        let pivot = safe_pivot(diagonal[k], perturbation, &mut row);
        row.iter().enumerate().for_each(|(j, &x)| b[(k, j)] = x / pivot);
    }
}

/// A pivot that no element of `row` overflows when divided by; both may be scaled.
fn safe_pivot<T: Scalar>(mut pivot: T, perturbation: T::Part, row: &mut [T]) -> T {
    let tiny = <T::Part as Float>::min_positive_value();
    let huge = T::Part::one() / tiny;
    let most = row.iter().fold(T::Part::zero(), |most, x| Float::max(most, x.modulus()));
    let mut step = T::real(if pivot.re() < T::Part::zero() { -perturbation } else { perturbation });
    loop {
        let size = pivot.modulus();
        if size >= T::Part::one() || !pivot.finite() {
            return pivot;
        }
        if size < tiny {
            if !size.is_zero() && most * tiny <= size {
                row.iter_mut().for_each(|x| *x *= T::real(huge));
                return pivot * T::real(huge);
            }
        } else if most <= size * huge {
            return pivot;
        }
        pivot += step;
        step += step;
    }
}
