//! The standard form of two rows and columns of a real Schur form.

use num_traits::Float;

use super::rotation::Rotation;
use crate::matrix::Matrix;
use crate::scalar::Real;

/// Brings the two rows from `k` on into standard form, and gives their eigenvalues: a real pair is separated, and the
/// diagonal of a complex pair is equal, with elements of opposite signs beside it.
pub(super) fn standardize<T: Real>(h: &mut Matrix<'_, T>, k: usize, z: Option<&mut Matrix<'_, T>>) -> [(T, T); 2] {
    let n = h.rows();
    let (rotation, [a, b, c, d]) = standard([h[(k, k)], h[(k, k + 1)], h[(k + 1, k)], h[(k + 1, k + 1)]]);
    rotation.rows(h, k, k + 1, k + 2..n);
    rotation.columns(h, k, k + 1, 0..k);
    if let Some(z) = z {
        rotation.columns(z, k, k + 1, 0..n);
    }
    (h[(k, k)], h[(k, k + 1)], h[(k + 1, k)], h[(k + 1, k + 1)]) = (a, b, c, d);
    let im = Float::sqrt(Float::abs(b)) * Float::sqrt(Float::abs(c));
    if c == T::zero() { [(a, T::zero()), (d, T::zero())] } else { [(a, im), (d, -im)] }
}

/// The rotation that brings `[a b; c d]` into standard form, and that. (LAPACK: `lanv2`.)
fn standard<T: Real>([a, b, c, d]: [T; 4]) -> (Rotation<T>, [T; 4]) {
    let (zero, one, half) = (T::zero(), T::of(1.0), T::of(0.5));
    if c == zero {
        return (Rotation { c: one, s: zero }, [a, b, c, d]);
    }
    if b == zero {
        // Rows and columns change places.
        return (Rotation { c: zero, s: one }, [d, -c, zero, a]);
    }
    if a == d && Float::signum(b) != Float::signum(c) {
        return (Rotation { c: one, s: zero }, [a, b, c, d]);
    }
    let difference = a - d;
    let p = half * difference;
    let larger = Float::max(Float::abs(b), Float::abs(c));
    let smaller = Float::min(Float::abs(b), Float::abs(c)) * Float::signum(b) * Float::signum(c);
    let scale = Float::max(Float::abs(p), larger);
    let discriminant = (p / scale) * p + (larger / scale) * smaller;
    if discriminant >= T::of(4.0) * <T as Float>::epsilon() {
        let root = Float::sqrt(scale) * Float::sqrt(discriminant);
        let above = p + if p < zero { -root } else { root };
        let length = Float::hypot(c, above);
        let form = [d + above, b - c, zero, d - (larger / above) * smaller];
        return (Rotation { c: above / length, s: c / length }, form);
    }
    equalize([a, b, c, d])
}

/// The same for eigenvalues that are a complex pair, or almost equal: the diagonal is made equal first.
fn equalize<T: Real>([a, b, c, d]: [T; 4]) -> (Rotation<T>, [T; 4]) {
    let (zero, one, half) = (T::zero(), T::of(1.0), T::of(0.5));
    let (sum, difference) = (b + c, a - d);
    let length = Float::hypot(sum, difference);
    let cos = Float::sqrt(half * (one + Float::abs(sum) / length));
    let sin = -(half * difference / (length * cos)) * Float::signum(sum);
    // First the columns, then the rows.
    let [aa, bb, cc, dd] = [a * cos + b * sin, b * cos - a * sin, c * cos + d * sin, d * cos - c * sin];
    let [a, b, c, d] = [aa * cos + cc * sin, bb * cos + dd * sin, cc * cos - aa * sin, dd * cos - bb * sin];
    let middle = half * (a + d);
    let equal = (Rotation { c: cos, s: sin }, [middle, b, c, middle]);
    if c == zero {
        return equal;
    }
    if b == zero {
        return (Rotation { c: -sin, s: cos }, [middle, -c, zero, middle]);
    }
    if Float::signum(b) != Float::signum(c) {
        return equal;
    }
    // The eigenvalues are real after all.
    let (root_b, root_c) = (Float::sqrt(Float::abs(b)), Float::sqrt(Float::abs(c)));
    let p = root_b * root_c * Float::signum(c);
    let tau = one / Float::sqrt(Float::abs(b + c));
    let (cos_2, sin_2) = (root_b * tau, root_c * tau);
    let rotation = Rotation { c: cos * cos_2 - sin * sin_2, s: cos * sin_2 + sin * cos_2 };
    (rotation, [middle + p, b - c, zero, middle - p])
}
