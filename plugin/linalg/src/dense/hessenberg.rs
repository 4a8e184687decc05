//! Reduction to Hessenberg form.

use super::reflector;
use crate::matrix::Matrix;
use crate::scalar::Scalar;

/// Reduces rows and columns `low..high` of `a` to `Q^H a Q` of Hessenberg form; the reflectors of `Q` lie below the
/// subdiagonal. (LAPACK: `gehrd`.)
pub fn reduce<T: Scalar>(a: &mut Matrix<'_, T>, low: usize, high: usize, taus: &mut [T]) {
    let n = a.rows();
    taus.fill(T::zero());
    for i in low..high.saturating_sub(1) {
        let (head, tail) = a.col_mut(i)[i + 1..high].split_first_mut().expect("there is a row below");
        taus[i] = reflector::make(head, tail);
        let subdiagonal = std::mem::replace(head, T::one());
        let v = a.col(i)[i + 1..high].to_vec();
        reflector::apply_right(taus[i], &v, a, 0..high, i + 1);
        reflector::apply_left(Scalar::conj(taus[i]), &v, a, i + 1, i + 1..n);
        a[(i + 1, i)] = subdiagonal;
    }
}

/// Moves the reflectors from below the subdiagonal of `h` into `q`, as their product, and clears them.
pub fn form_q<T: Scalar>(h: &mut Matrix<'_, T>, taus: &[T], q: &mut Matrix<'_, T>) {
    let n = h.rows();
    q.set_identity();
    for i in (0..taus.len()).rev() {
        let mut v = h.col(i)[i + 1..].to_vec();
        v[0] = T::one();
        reflector::apply_left(taus[i], &v, q, i + 1, i + 1..n);
    }
    clear(h);
}

/// Clears the elements below the subdiagonal.
pub fn clear<T: Scalar>(h: &mut Matrix<'_, T>) {
    for j in 0..h.cols() {
        h.col_mut(j).iter_mut().skip(j + 2).for_each(|x| *x = T::zero());
    }
}
