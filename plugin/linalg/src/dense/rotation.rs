//! Plane rotations.

use num_traits::{Float, One, Zero};

use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// A rotation `[c s; -conj(s) c]` with a real `c`.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<T: Scalar> {
    /// The cosine.
    pub c: T::Part,
    /// The sine.
    pub s: T,
}

impl<T: Scalar> Rotation<T> {
    /// The rotation that makes `(f, g)` to `(r, 0)`, and `r`.
    pub fn zeroing(f: T, g: T) -> (Rotation<T>, T) {
        let (size_f, size_g) = (f.modulus(), g.modulus());
        if size_g.is_zero() {
            return (Rotation { c: T::Part::one(), s: T::zero() }, f);
        }
        if size_f.is_zero() {
            let s = T::new(g.re() / size_g, -g.im() / size_g);
            return (Rotation { c: T::Part::zero(), s }, T::real(size_g));
        }
        let length = Float::hypot(size_f, size_g);
        let phase = T::new(f.re() / size_f, f.im() / size_f);
        let c = size_f / length;
        let s = phase * T::new(g.re() / length, -g.im() / length);
        (Rotation { c, s }, phase * T::real(length))
    }

    /// Replaces rows `j` and `k` of `columns` by their rotation.
    pub fn rows(self, a: &mut Matrix<'_, T>, j: usize, k: usize, columns: std::ops::Range<usize>) {
        let c = T::real(self.c);
        for column in columns {
            let column = a.col_mut(column);
            let (x, y) = (column[j], column[k]);
            column[j] = c * x + self.s * y;
            column[k] = c * y - Scalar::conj(self.s) * x;
        }
    }

    /// Multiplies columns `j` and `k`, of which `k` is greater, with the adjoint of the rotation, in `rows`.
    pub fn columns(self, a: &mut Matrix<'_, T>, j: usize, k: usize, rows: std::ops::Range<usize>) {
        let c = T::real(self.c);
        let (left, right) = a.two_cols(j, k);
        for (x, y) in left[rows.clone()].iter_mut().zip(&mut right[rows]) {
            (*x, *y) = (c * *x + Scalar::conj(self.s) * *y, c * *y - self.s * *x);
        }
    }
}
