//! Hermitian matrices: eigenvalues and eigenvectors, and reduction to tridiagonal form.

use faer::diag::DiagMut;
use faer::linalg::evd::{
    ComputeEigenvectors, EvdError, SelfAdjointEvdParams, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::{Auto, Mat, Par, Spec};

use super::reflector::{self, add, dot};
use super::scale::Scale;
use super::{DIVIDED, with_scratch};
use crate::matrix::Matrix;
use crate::scalar::{Real, Scalar};

/// Eigenvalues in ascending order, of the matrix whose lower or upper triangle `a` has; with `vectors`, `a` becomes the
/// eigenvectors.
///
/// # Errors
/// If the algorithm does not converge.
pub fn eigen<T: Scalar>(
    a: &mut Matrix<'_, T>,
    lower: bool,
    values: &mut [T::Part],
    vectors: bool,
    par: Par,
) -> Result<(), EvdError> {
    let n = a.rows();
    let mut diagonal = vec![T::zero(); n];
    // The transposed matrix is the conjugate one, and so are its eigenvectors.
    let mut source = if lower { a.view().to_owned() } else { a.view().transpose().to_owned() };
    (0..n).for_each(|i| source[(i, i)] = T::real(source[(i, i)].re()));
    // The other triangle is not read and may hold anything, so it has no say.
    let triangle = (0..n).flat_map(|j| (j..n).map(move |i| (i, j)));
    let scale = Scale::of(&triangle.map(|at| source[at]).collect::<Vec<T>>());
    (0..n).for_each(|j| scale.apply(source.col_as_slice_mut(j)));
    let compute = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let params = params::<T>();
    let scratch = self_adjoint_evd_scratch::<T>(n, compute, par, params);
    with_scratch(scratch, |stack| {
        self_adjoint_evd(
            source.as_ref(),
            DiagMut::from_slice_mut(&mut diagonal),
            vectors.then(|| a.view_mut()),
            par,
            stack,
            params,
        )
    })?;
    if !lower && vectors {
        a.data().iter_mut().for_each(|x| *x = Scalar::conj(*x));
    }
    scale.undo(&mut diagonal);
    values.iter_mut().zip(&diagonal).for_each(|(value, x)| *value = x.re());
    Ok(())
}

/// The elements of a matrix from which on threads share the steps of its reduction to three diagonals, each of which
/// reads all of it.
const REDUCED_BY_THREADS: usize = 384 * 384;

/// `faer`'s parameters. Those that it would choose take up to 1.3 times as long.
fn params<T: Scalar>() -> Spec<SelfAdjointEvdParams, T> {
    let mut params = <SelfAdjointEvdParams as Auto<T>>::auto();
    params.recursion_threshold = DIVIDED;
    params.tridiag.par_threshold = REDUCED_BY_THREADS;
    Spec::new(params)
}

/// The tridiagonal matrix of a reduction, which also makes reflectors.
#[derive(Debug)]
pub struct Tridiagonal<'a, T: Scalar> {
    /// The diagonal.
    pub diagonal: &'a mut [T::Part],
    /// The elements beside it.
    pub beside: &'a mut [T::Part],
    /// The factors of the reflectors.
    pub taus: &'a mut [T],
}

/// Reduces a hermitian matrix, whose lower or upper triangle `a` has, to the tridiagonal `Q^H a Q`; the reflectors of
/// `Q` lie beyond the diagonals next to the main one. (LAPACK: `sytrd`, `hetrd`.)
pub fn reduce<T: Scalar>(a: &mut Matrix<'_, T>, lower: bool, out: Tridiagonal<'_, T>) {
    if lower {
        return reduce_lower(a, out);
    }
    // With rows and columns in the opposite order the upper triangle is the lower one, from its last column on.
    let n = a.rows();
    let mut turned = Mat::from_fn(n, n, |i, j| a[(n - 1 - i, n - 1 - j)]);
    let mut elements: Vec<T> = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).map(|at| turned[at]).collect();
    let Tridiagonal { diagonal, beside, taus } = out;
    let turned_out = Tridiagonal { diagonal: &mut *diagonal, beside: &mut *beside, taus: &mut *taus };
    reduce_lower(&mut Matrix::new(&mut elements, n, n), turned_out);
    turned.as_mut().copy_from(Matrix::new(&mut elements, n, n).view());
    for j in 0..n {
        (0..=j).for_each(|i| a[(i, j)] = turned[(n - 1 - i, n - 1 - j)]);
    }
    diagonal.reverse();
    beside.reverse();
    taus.reverse();
}

fn reduce_lower<T: Scalar>(a: &mut Matrix<'_, T>, out: Tridiagonal<'_, T>) {
    let n = a.rows();
    for i in 0..n {
        a[(i, i)] = T::real(a[(i, i)].re());
        out.diagonal[i] = a[(i, i)].re();
        if i + 1 == n {
            break;
        }
        let (head, tail) = a.col_mut(i)[i + 1..].split_first_mut().expect("there is a row below");
        let tau = reflector::make(head, tail);
        out.beside[i] = head.re();
        out.taus[i] = tau;
        if tau.is_zero() {
            continue;
        }
        let mut v = a.col(i)[i + 1..].to_vec();
        v[0] = T::one();
        // A - v w^H - w v^H with w = tau A v - (tau / 2) (tau (A v)^H v) v.
        let mut w = multiply_lower(a, i + 1, &v);
        w.iter_mut().for_each(|w| *w *= tau);
        let factor = -T::real(T::Part::of(0.5)) * tau * dot(&w, &v);
        add(&mut w, factor, &v);
        for (j, (&vj, &wj)) in v.iter().zip(&w).enumerate() {
            let column = &mut a.col_mut(i + 1 + j)[i + 1 + j..];
            add(column, -Scalar::conj(wj), &v[j..]);
            add(column, -Scalar::conj(vj), &w[j..]);
        }
    }
}

/// The product of the hermitian matrix in the rows and columns from `first` on, of which the lower triangle is read,
/// with a vector.
fn multiply_lower<T: Scalar>(a: &Matrix<'_, T>, first: usize, v: &[T]) -> Vec<T> {
    let mut out = vec![T::zero(); v.len()];
    for (j, &x) in v.iter().enumerate() {
        let column = &a.col(first + j)[first + j..];
        out[j] += T::real(column[0].re()) * x + dot(&column[1..], &v[j + 1..]);
        add(&mut out[j + 1..], x, &column[1..]);
    }
    out
}
