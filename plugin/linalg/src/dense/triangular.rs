//! Systems with a triangular matrix.

use faer::linalg::triangular_solve as solve;
use faer::{Conj, MatMut, MatRef, Par};
use num_traits::{Float, Zero};

use crate::scalar::{Real, Scalar};

/// The form of a system's matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    /// Lower triangular; the other elements are not read.
    pub lower: bool,
    /// The diagonal counts as ones, and is not read.
    pub unit: bool,
}

/// Solves `a x = b`, or with `conjugate` the system of the conjugate of `a`, for each column of `b`, which becomes `x`.
/// For `x a = b` transpose both.
pub fn solve_in_place<T: Scalar>(a: MatRef<'_, T>, triangle: Triangle, conjugate: bool, b: MatMut<'_, T>, par: Par) {
    if !triangle.unit && has_extremes(a) {
        return substitute(a, triangle.lower, conjugate, b);
    }
    let conjugate = if conjugate { Conj::Yes } else { Conj::No };
    match (triangle.lower, triangle.unit) {
        (true, false) => solve::solve_lower_triangular_in_place_with_conj(a, conjugate, b, par),
        (true, true) => solve::solve_unit_lower_triangular_in_place_with_conj(a, conjugate, b, par),
        (false, false) => solve::solve_upper_triangular_in_place_with_conj(a, conjugate, b, par),
        (false, true) => solve::solve_unit_upper_triangular_in_place_with_conj(a, conjugate, b, par),
    }
}

/// Whether the diagonal has an element whose reciprocal, which faer multiplies with, or the square of it, is no number
/// of the type, or one of few digits.
fn has_extremes<T: Scalar>(a: MatRef<'_, T>) -> bool {
    let largest = Float::sqrt(<T::Part as Float>::max_value()) * T::Part::of(0.125);
    let usual = T::Part::of(1.0) / largest..=largest;
    (0..a.nrows()).any(|i| {
        let size = a[(i, i)].abs1();
        !size.is_zero() && Float::is_finite(size) && !usual.contains(&size)
    })
}

/// The same row by row, with divisions.
fn substitute<T: Scalar>(a: MatRef<'_, T>, lower: bool, conjugate: bool, mut b: MatMut<'_, T>) {
    let n = a.nrows();
    let element = |i: usize, j: usize| if conjugate { Scalar::conj(a[(i, j)]) } else { a[(i, j)] };
    for column in 0..b.ncols() {
        for step in 0..n {
            let i = if lower { step } else { n - 1 - step };
            let known = if lower { 0..i } else { i + 1..n };
            let sum: T = known.map(|j| element(i, j) * b[(j, column)]).sum();
            b[(i, column)] = (b[(i, column)] - sum).divided_by(element(i, i));
        }
    }
}
