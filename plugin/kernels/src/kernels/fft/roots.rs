//! Roots of unity, within 0.51 of the last place: those of angles up to an eighth turn, which symmetry extends.

use std::f64::consts::TAU;

use crate::element::Complex;

/// The part of 2 pi below the last place of [`TAU`].
const TAU_LOW: f64 = 2.449_293_598_294_706_4e-16;

/// e^(-2 pi i k / n).
pub(super) fn root(k: usize, n: usize) -> Complex<f64> {
    let k = k % n;
    if 2 * k > n {
        return root(n - k, n).conj();
    }
    if 4 * k > n {
        // The angle is beyond a quarter turn, by (4 k - n) / (4 n) of a turn.
        let Complex { re, im } = small(4 * k - n, 4 * n);
        return Complex::new(im, -re);
    }
    small(k, n)
}

/// e^(-2 pi i k / n) for k of at most a quarter of n.
fn small(k: usize, n: usize) -> Complex<f64> {
    if 8 * k > n {
        let (sin, cos) = sin_cos(n - 4 * k, 4 * n);
        return Complex::new(sin, -cos);
    }
    let (sin, cos) = sin_cos(k, n);
    Complex::new(cos, -sin)
}

/// The sine and cosine of 2 pi k / n, which is at most pi / 4, by an angle in twice the precision.
fn sin_cos(k: usize, n: usize) -> (f64, f64) {
    let (k, n) = (k as f64, n as f64);
    let turns = k / n;
    let rest = (-turns).mul_add(n, k) / n;
    let angle = turns * TAU;
    let low = turns.mul_add(TAU, -angle) + turns * TAU_LOW + rest * TAU;
    let (sin, cos) = angle.sin_cos();
    (low.mul_add(cos, sin), (-low).mul_add(sin, cos))
}
