//! `trsm`: systems with a triangular matrix.

use oxcall::prelude::*;

use super::{C64, C128, choose, chunks, each, expect, groups, sizes};
use crate::dense::many::{self, LANES, Strides};
use crate::dense::triangular::{Triangle, solve_in_place};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

/// The attributes.
struct Letters {
    side: u8,
    uplo: u8,
    trans_x: u8,
    diag: u8,
}

fn solve<T: Element>(
    letters: &Letters,
    (a, a_shape): (&[T], [usize; 2]),
    (b, b_shape): (&mut [T], [usize; 2]),
    alpha: T,
    pool: &ThreadPool<'_>,
) -> Result<()> {
    let left = choose("side", letters.side, &[(b'L', true), (b'R', false)])?;
    let lower = choose("uplo", letters.uplo, &[(b'L', true), (b'U', false)])?;
    let unit = choose("diag", letters.diag, &[(b'U', true), (b'N', false)])?;
    let transposes = [(b'N', (false, false)), (b'T', (true, false)), (b'C', (true, true))];
    let (transposed, conjugate) = choose("trans_x", letters.trans_x, &transposes)?;
    let (n, [rows, cols]) = (a_shape[0], b_shape);
    expect("rows of the triangle", n, if left { rows } else { cols })?;
    // x op(a) = b is op(a)^T x^T = b^T.
    let flip = transposed == left;
    let triangle = Triangle { lower: lower != flip, unit };
    if let (true, Some(a), Some(alpha)) =
        (many::fits([n, rows.max(cols)], b.len() / (rows * cols).max(1)), T::reals(a), T::reals(&[alpha]))
        && let Some(b) = T::reals_mut(b)
    {
        let (a_strides, b_strides) = (Strides::column_major(n), Strides::column_major(rows));
        let a_strides = if flip { a_strides.transposed() } else { a_strides };
        let (b_strides, sides) = if left { (b_strides, cols) } else { (b_strides.transposed(), rows) };
        let items = a.chunks(LANES * n * n).zip(b.chunks_mut(LANES * rows * cols));
        return groups(pool, [n, sides], items, |(a, b)| {
            b.iter_mut().for_each(|x| *x *= alpha[0]);
            many::solve((a, a_strides), triangle, (b, b_strides), [n, sides]);
        });
    }
    let each_work = (n * rows) as f64 * cols as f64;
    let scratch = matrices::<T>([n, n], 1).saturating_add(matrices::<T>(b_shape, 1));
    each(pool, (each_work, scratch), chunks(b, rows * cols).enumerate(), |(index, b), par| {
        if !alpha.is_one() {
            b.iter_mut().for_each(|x| *x *= alpha);
        }
        let a = faer::MatRef::from_column_major_slice(&a[index * n * n..][..n * n], n, n);
        let mut b = Matrix::new(b, rows, cols);
        let a = if flip { a.transpose() } else { a };
        let b = if left { b.view_mut() } else { b.view_mut().transpose_mut() };
        solve_in_place(a, triangle, conjugate, b, par);
    })
}

macro_rules! trsm {
    ($($op:ident $target:tt $T:ident,)*) => {$(
        /// Solves `op(a) x = alpha b` (`side` `L`) or `x op(a) = alpha b` (`R`) with the lower or upper triangle
        /// (`uplo`: `L`, `U`) of `a`, itself, transposed or its adjoint (`trans_x`: `N`, `T`, `C`), with a diagonal of
        /// ones if `diag` is `U`. Without the operand `alpha`, which older JAX passes, it is 1.
        #[custom_call(name = $target)]
        #[expect(clippy::too_many_arguments, reason = "the interface of LAPACK")]
        pub fn $op(
            #[attr] side: u8,
            #[attr] uplo: u8,
            #[attr] trans_x: u8,
            #[attr] diag: u8,
            #[dims(..b, k, k)] a: Array<$T>,
            #[dims(..b, m, n)] mut b: InOut<$T>,
            alpha: Option<Scalar<$T>>,
            pool: ThreadPool,
        ) -> Result<()> {
            let letters = Letters { side, uplo, trans_x, diag };
            let (a_shape, b_shape) = (sizes(a.shape()), sizes(b.shape()));
            let alpha = alpha.map_or(num_traits::One::one(), |alpha| *alpha);
            solve(&letters, (&a, a_shape), (&mut b, b_shape), alpha, &pool)
        }
    )*};
}

trsm! {
    strsm "lapack_strsm_ffi" f32,
    dtrsm "lapack_dtrsm_ffi" f64,
    ctrsm "lapack_ctrsm_ffi" C64,
    ztrsm "lapack_ztrsm_ffi" C128,
}
