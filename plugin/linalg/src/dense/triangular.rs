//! Systems with a triangular matrix.

use faer::linalg::triangular_solve as solve;
use faer::{Conj, MatMut, MatRef, Par};

use crate::scalar::Scalar;

/// What a system's matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    /// Lower triangular; the other elements are not read.
    pub lower: bool,
    /// The diagonal counts as ones, and is not read.
    pub unit: bool,
}

/// Solves `a x = b`, or with `conjugate` the system of the conjugate of `a`, for each column of `b`, which becomes `x`. For
/// `x a = b` transpose both.
pub fn solve_in_place<T: Scalar>(a: MatRef<'_, T>, triangle: Triangle, conjugate: bool, b: MatMut<'_, T>, par: Par) {
    let conjugate = if conjugate { Conj::Yes } else { Conj::No };
    match (triangle.lower, triangle.unit) {
        (true, false) => solve::solve_lower_triangular_in_place_with_conj(a, conjugate, b, par),
        (true, true) => solve::solve_unit_lower_triangular_in_place_with_conj(a, conjugate, b, par),
        (false, false) => solve::solve_upper_triangular_in_place_with_conj(a, conjugate, b, par),
        (false, true) => solve::solve_unit_upper_triangular_in_place_with_conj(a, conjugate, b, par),
    }
}
