//! Eigenvalues and eigenvectors of general matrices.

use faer::diag::DiagMut;
use faer::linalg::evd::{self, ComputeEigenvectors, EvdError};
use faer::{Mat, Par};
use num_complex::Complex;
use num_traits::{Float, Zero};

use super::qr::norm;
use super::{hessenberg, isolated, schur_complex, with_scratch};
use crate::matrix::Matrix;
use crate::scalar::{Real, Scalar};

/// A type whose matrices' eigenvalues are found.
pub trait Eigen: Scalar {
    /// Eigenvalues of `a`, and left and right eigenvectors where they are wanted, of length one and with a real largest
    /// element. A real matrix has pairs of conjugate eigenvalues one after the other, the one with the positive
    /// imaginary part first.
    ///
    /// # Errors
    /// If the algorithm does not converge.
    fn eigen(
        a: &Matrix<'_, Self>,
        values: &mut [Complex<Self::Part>],
        left: Option<Matrix<'_, Complex<Self::Part>>>,
        right: Option<Matrix<'_, Complex<Self::Part>>>,
        par: Par,
    ) -> Result<(), EvdError>
    where
        Complex<Self::Part>: Scalar;
}

fn compute(wanted: bool) -> ComputeEigenvectors {
    if wanted { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

macro_rules! eigen {
    ($($real:ty),*) => {$(
        impl Eigen for $real {
            fn eigen(
                a: &Matrix<'_, $real>,
                values: &mut [Complex<$real>],
                left: Option<Matrix<'_, Complex<$real>>>,
                right: Option<Matrix<'_, Complex<$real>>>,
                par: Par,
            ) -> Result<(), EvdError> {
                let n = a.rows();
                let (mut re, mut im) = (vec![0.0; n], vec![0.0; n]);
                let packed = |wanted: bool| wanted.then(|| Mat::<$real>::zeros(n, n));
                let (mut packed_left, mut packed_right) = (packed(left.is_some()), packed(right.is_some()));
                let scratch = evd::evd_scratch::<$real>(
                    n, compute(left.is_some()), compute(right.is_some()), par, Default::default(),
                );
                with_scratch(scratch, |stack| {
                    evd::evd_real(
                        a.view(),
                        DiagMut::from_slice_mut(&mut re),
                        DiagMut::from_slice_mut(&mut im),
                        packed_left.as_mut().map(Mat::as_mut),
                        packed_right.as_mut().map(Mat::as_mut),
                        par,
                        stack,
                        Default::default(),
                    )
                })?;
                values.iter_mut().zip(re.iter().zip(&im)).for_each(|(value, (&re, &im))| *value = Complex::new(re, im));
                for (vectors, packed) in [(left, packed_left), (right, packed_right)] {
                    if let (Some(mut vectors), Some(packed)) = (vectors, packed) {
                        unpack(&im, &packed, &mut vectors);
                        normalize(&mut vectors);
                    }
                }
                Ok(())
            }
        }

        impl Eigen for Complex<$real> {
            fn eigen(
                a: &Matrix<'_, Self>,
                values: &mut [Self],
                mut left: Option<Matrix<'_, Self>>,
                mut right: Option<Matrix<'_, Self>>,
                par: Par,
            ) -> Result<(), EvdError> {
                if left.is_none() && right.is_none() && a.rows() <= IN_ORDER {
                    return in_order(a, values);
                }
                let scratch = evd::evd_scratch::<Self>(
                    a.rows(), compute(left.is_some()), compute(right.is_some()), par, Default::default(),
                );
                with_scratch(scratch, |stack| {
                    evd::evd_cplx(
                        a.view(),
                        DiagMut::from_slice_mut(values),
                        left.as_mut().map(Matrix::view_mut),
                        right.as_mut().map(Matrix::view_mut),
                        par,
                        stack,
                        Default::default(),
                    )
                })?;
                [left, right].into_iter().flatten().for_each(|mut vectors| normalize(&mut vectors));
                Ok(())
            }
        }
    )*};
}

eigen!(f32, f64);

/// Up to so many rows LAPACK does one shift after the other, whose order of eigenvalues is known.
const IN_ORDER: usize = 75;

/// The eigenvalues of a complex matrix, in the order of LAPACK.
fn in_order<T: Scalar>(a: &Matrix<'_, T>, values: &mut [T]) -> Result<(), EvdError> {
    let n = a.rows();
    let mut memory = a.elements().to_vec();
    let mut h = Matrix::new(&mut memory, n, n);
    let rows = isolated::permute(&mut h).rest;
    let mut taus = vec![T::zero(); n.saturating_sub(1)];
    hessenberg::reduce(&mut h, rows.start, rows.end, &mut taus);
    hessenberg::clear(&mut h);
    schur_complex::reduce(&mut h, None, rows).map_err(|_| EvdError::NoConvergence)?;
    values.iter_mut().enumerate().for_each(|(k, value)| *value = h[(k, k)]);
    Ok(())
}

/// Eigenvectors from their real and imaginary parts, which for a pair of eigenvalues are two neighbouring columns.
fn unpack<R: Real>(im: &[R], packed: &Mat<R>, vectors: &mut Matrix<'_, Complex<R>>)
where
    Complex<R>: Scalar<Part = R>,
{
    let mut j = 0;
    while j < im.len() {
        let pair = !im[j].is_zero() && j + 1 < im.len();
        for i in 0..im.len() {
            let (re, other) = (packed[(i, j)], if pair { packed[(i, j + 1)] } else { R::zero() });
            vectors[(i, j)] = Complex::new(re, other);
            if pair {
                vectors[(i, j + 1)] = Complex::new(re, -other);
            }
        }
        j += if pair { 2 } else { 1 };
    }
}

/// Gives each column length one, and its largest element no imaginary part.
fn normalize<R: Real>(vectors: &mut Matrix<'_, Complex<R>>)
where
    Complex<R>: Scalar<Part = R>,
{
    for j in 0..vectors.cols() {
        let column = vectors.col_mut(j);
        let length = norm(column);
        let largest = column
            .iter()
            .copied()
            .fold(Complex::<R>::zero(), |most, x| if x.modulus() > most.modulus() { x } else { most });
        if length.is_zero() || !Float::is_finite(length) {
            continue;
        }
        let phase = if largest.im.is_zero() {
            Complex::new(R::of(1.0), R::zero())
        } else {
            Scalar::conj(largest) / Complex::new(largest.modulus(), R::zero())
        };
        let factor = phase / Complex::new(length, R::zero());
        for x in column {
            let is_largest = *x == largest;
            *x *= factor;
            if is_largest {
                x.im = R::zero();
            }
        }
    }
}
