//! `geev`: eigenvalues and eigenvectors of general matrices.

use num_complex::Complex;
use oxcall::prelude::*;

use super::{C64, C128, choose, chunks, each, sizes, work};
use crate::dense::eigen::Eigen;
use crate::dense::scale::Scale;
use crate::matrix::Matrix;
use crate::memory::{self, matrices};
use crate::scalar::Scalar as Element;

/// jaxlib's `info` for a matrix with an element that is not finite, for which it does not call LAPACK.
const NOT_FINITE: i32 = -4;
/// The value of `info` if the algorithm did not converge.
const NOT_CONVERGED: i32 = 1;

/// The eigenvectors of the batch, if they are wanted.
fn vectors<'a, T>(
    name: &str,
    wanted: u8,
    data: &'a mut [T],
    n: usize,
    batch: usize,
) -> Result<Vec<Option<&'a mut [T]>>> {
    if choose(name, wanted, &[(b'V', true), (b'N', false)])? {
        Ok(chunks(data, n * n).map(Some).collect())
    } else {
        Ok((0..batch).map(|_| None).collect())
    }
}

/// `values(index, ...)` stores the eigenvalues of a matrix.
fn eigen<T: Eigen>(
    compute: [u8; 2],
    (a, n): (&[T], usize),
    [left, right]: [&mut [Complex<T::Part>]; 2],
    values: &mut [Complex<T::Part>],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()>
where
    Complex<T::Part>: Element<Part = T::Part>,
{
    let left = vectors("compute_left", compute[0], left, n, info.len())?;
    let right = vectors("compute_right", compute[1], right, n, info.len())?;
    info.fill(0);
    let items = a.chunks_exact((n * n).max(1)).zip(chunks(values, n)).zip(left).zip(right).zip(info);
    each(
        pool,
        (20.0 * work([n, n]), matrices::<Complex<T::Part>>([n, n], 10)),
        items,
        |((((a, values), left), right), info), par| {
            let mut copy = a.to_vec();
            let scale = Scale::of(&copy);
            scale.apply(&mut copy);
            let a = Matrix::new(&mut copy, n, n);
            if !a.is_finite() {
                *info = NOT_FINITE;
                return;
            }
            let matrix = |data| Matrix::new(data, n, n);
            let found = T::eigen(&a, &mut *values, left.map(matrix), right.map(matrix), par);
            scale.undo(values);
            *info = if found.is_ok() { 0 } else { NOT_CONVERGED };
        },
    )
}

macro_rules! geev_real {
    ($($op:ident $target:tt $T:ident $C:ident,)*) => {$(
        /// Eigenvalues of each real matrix as real and imaginary parts, and its left and right eigenvectors where
        /// `compute_left` and `compute_right` are `V`. `info` is positive if the algorithm did not converge, and -4 if
        /// an element is not finite.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] compute_left: u8,
            #[attr] compute_right: u8,
            #[dims(..b, n, n)] a: Array<$T>,
            #[dims(..b, n)] mut re: Out<$T>,
            #[dims(..b, n)] mut im: Out<$T>,
            #[dims(..b, n, n)] mut left: Out<$C>,
            #[dims(..b, n, n)] mut right: Out<$C>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let [n, _] = sizes(a.shape());
            memory::check(matrices::<$C>([re.len(), 1], 1))?;
            let mut values = vec![$C::default(); re.len()];
            eigen([compute_left, compute_right], (&a, n), [&mut left, &mut right], &mut values, &mut info, &pool)?;
            re.iter_mut().zip(&values).for_each(|(re, value)| *re = value.re);
            im.iter_mut().zip(&values).for_each(|(im, value)| *im = value.im);
            Ok(())
        }
    )*};
}

macro_rules! geev_complex {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Eigenvalues of each complex matrix, and its left and right eigenvectors where `compute_left` and
        /// `compute_right` are `V`. `info` is positive if the algorithm did not converge, and -4 if an element is not
        /// finite.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] compute_left: u8,
            #[attr] compute_right: u8,
            #[dims(..b, n, n)] a: Array<$T>,
            #[dims(..b, n)] mut values: Out<$T>,
            #[dims(..b, n, n)] mut left: Out<$T>,
            #[dims(..b, n, n)] mut right: Out<$T>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let [n, _] = sizes(a.shape());
            eigen([compute_left, compute_right], (&a, n), [&mut left, &mut right], &mut values, &mut info, &pool)
        }
    )*};
}

geev_real! {
    sgeev "lapack_sgeev_ffi" f32 C64,
    dgeev "lapack_dgeev_ffi" f64 C128,
}

geev_complex! {
    cgeev "lapack_cgeev_ffi" C64,
    zgeev "lapack_zgeev_ffi" C128,
}
