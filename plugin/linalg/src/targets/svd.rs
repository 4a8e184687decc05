//! `gesdd` and `gesvd`: singular value decomposition. Both names have one algorithm here.

use oxcall::prelude::*;

use super::qr::last;
use super::{C64, C128, choose, chunks, each, expect, sizes, work};
use crate::dense::svd;
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

/// LAPACK's `info` for a matrix with NaN.
const NOT_FINITE: i32 = -4;

/// A result and the sizes of its matrices.
type Sized<'a, T> = (&'a mut [T], [usize; 2]);

fn decompose<T: Element>(
    mode: u8,
    (a, shape): Sized<'_, T>,
    (s, count): (&mut [T::Part], usize),
    [(u, u_shape), (vt, vt_shape)]: [Sized<'_, T>; 2],
    info: &mut [i32],
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let vectors = choose("mode", mode, &[(b'A', true), (b'S', true), (b'N', false)])?;
    let [rows, cols] = shape;
    expect("s", count, rows.min(cols))?;
    if vectors {
        let all = mode == b'A';
        expect("columns of u", u_shape[1], if all { rows } else { count })?;
        expect("rows of vt", vt_shape[0], if all { cols } else { count })?;
    }
    info.fill(0);
    let factors = chunks(u, u_shape[0] * u_shape[1]).zip(chunks(vt, vt_shape[0] * vt_shape[1]));
    let items = chunks(a, rows * cols).zip(chunks(s, count)).zip(factors).zip(info);
    let factors = if vectors { matrices::<T>(u_shape, 1).saturating_add(matrices::<T>(vt_shape, 2)) } else { 0 };
    let cost = (20.0 * work(shape), matrices::<T>(shape, 7).saturating_add(factors));
    each(pool, cost, items, |(((a, s), (u, vt)), info), par| {
        let a = Matrix::new(a, rows, cols);
        if !a.is_finite() {
            *info = NOT_FINITE;
            return;
        }
        let matrix = |data, [rows, cols]: [usize; 2]| Matrix::new(data, rows, cols);
        let factors = vectors.then(|| (matrix(u, u_shape), matrix(vt, vt_shape)));
        *info = i32::from(svd::decompose(&a, s, factors, par).is_err());
    })
}

macro_rules! svd_targets {
    ($($gesdd:ident $gesdd_target:tt $gesvd:ident $gesvd_target:tt $T:ident $R:ident,)*) => {$(
        svd_targets!(@ $gesdd $gesdd_target $T $R);
        svd_targets!(@ $gesvd $gesvd_target $T $R);
    )*};
    (@ $op:ident $target:tt $T:ident $R:ident) => {
        /// Singular values of each matrix in descending order, and by `mode` all singular vectors (`A`), as many as
        /// values (`S`), or none (`N`). `info` is positive if the algorithm did not converge, and -4 if an element is
        /// not finite.
        #[custom_call(name = $target)]
        pub fn $op(
            #[attr] mode: u8,
            #[dims(..b, m, n)] mut a: InOut<$T>,
            #[dims(..b, _)] mut s: Out<$R>,
            #[dims(..b, m, _)] mut u: Out<$T>,
            #[dims(..b, _, n)] mut vt: Out<$T>,
            #[dims(..b)] mut info: Out<i32>,
            pool: ThreadPool,
        ) -> Result<()> {
            let (shape, u_shape, vt_shape) = (sizes(a.shape()), sizes(u.shape()), sizes(vt.shape()));
            let count = last(s.shape());
            let factors = [(&mut u[..], u_shape), (&mut vt[..], vt_shape)];
            decompose(mode, (&mut a, shape), (&mut s, count), factors, &mut info, &pool)
        }
    };
}

svd_targets! {
    sgesdd "lapack_sgesdd_ffi" sgesvd "lapack_sgesvd_ffi" f32 f32,
    dgesdd "lapack_dgesdd_ffi" dgesvd "lapack_dgesvd_ffi" f64 f64,
    cgesdd "lapack_cgesdd_ffi" cgesvd "lapack_cgesvd_ffi" C64 f32,
    zgesdd "lapack_zgesdd_ffi" zgesvd "lapack_zgesvd_ffi" C128 f64,
}
