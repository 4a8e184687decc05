//! The targets that JAX and XLA's builders (torch_xla) lower QR factorization and eigenvalues to where a platform has
//! none of its own. Their matrices are row-major.

use oxcall::prelude::*;

use super::qr::last;
use super::{C64, C128, chunks, each, expect, sizes, too_many_reflectors, work};
use crate::dense::{qr, symmetric};
use crate::matrix::Matrix;
use crate::memory::matrices;
use crate::scalar::Scalar as Element;

/// Calls `run` with a column-major copy of a row-major matrix, and copies it back.
fn in_columns<T: Element>(a: &mut [T], [rows, cols]: [usize; 2], run: impl FnOnce(&mut Matrix<'_, T>)) {
    let mut columns: Vec<T> = (0..cols).flat_map(|j| a.iter().skip(j).step_by(cols).copied()).collect();
    run(&mut Matrix::new(&mut columns, rows, cols));
    for (i, row) in a.chunks_exact_mut(cols.max(1)).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, x)| *x = columns[j * rows + i]);
    }
}

/// QR factorization of each matrix: R on and above the diagonal, the reflectors below it, with `taus`.
#[custom_call(name = "Qr", T = [f32, f64, C64, C128])]
pub fn geqrf<T: Element + oxcall::element::Plain>(
    #[dims(..b, m, n)] mut a: InOut<T>,
    #[dims(..b, _)] mut taus: Out<T>,
    pool: ThreadPool,
) -> Result<()> {
    let (shape, count) = (sizes(a.shape()), last(taus.shape()));
    expect("taus", count, shape[0].min(shape[1]))?;
    let items = chunks(&mut a, shape[0] * shape[1]).zip(chunks(&mut taus, count));
    let cost = (work(shape), matrices::<T>(shape, 3));
    each(&pool, cost, items, |(a, taus), par| in_columns(a, shape, |a| qr::factor(a, taus, par)))
}

/// The first columns of the orthogonal (unitary) factor whose reflectors `a` and `taus` have.
#[custom_call(name = "ProductOfElementaryHouseholderReflectors", T = [f32, f64, C64, C128])]
pub fn householder_product<T: Element + oxcall::element::Plain>(
    #[dims(..b, m, n)] mut a: InOut<T>,
    #[dims(..b, k)] taus: Array<T>,
    pool: ThreadPool,
) -> Result<()> {
    let (shape, count) = (sizes(a.shape()), last(taus.shape()));
    if shape[0] < shape[1] || count > shape[1] {
        return Err(too_many_reflectors(count, shape));
    }
    let cost = (work(shape), matrices::<T>(shape, 3));
    each(&pool, cost, chunks(&mut a, shape[0] * shape[1]).enumerate(), |(index, a), par| {
        in_columns(a, shape, |a| qr::form_q(a, &taus[index * count..][..count], par));
    })
}

/// Eigenvectors of a hermitian matrix in place of it, of which one triangle is read, and its eigenvalues in ascending
/// order; NaN if the algorithm did not converge.
fn eigen<T: Element>(a: &mut [T], n: usize, lower: bool, values: &mut [T::Part], par: faer::Par) {
    let triangle = |i: usize| if lower { 0..i + 1 } else { i..n };
    let mut found = (0..n).all(|i| a[i * n..][triangle(i)].iter().all(|x| x.finite()));
    if found {
        in_columns(a, [n, n], |a| found = symmetric::eigen(a, lower, values, true, par).is_ok());
    }
    if !found {
        let nan = num_traits::Float::nan();
        a.fill(T::real(nan));
        values.fill(nan);
    }
}

macro_rules! eigen_targets {
    ($($name:ident $target:tt $T:ident $R:ident,)*) => {$(
        /// Eigenvectors of each hermitian matrix in place of it, and its eigenvalues in ascending order. One triangle
        /// is read.
        #[custom_call(name = $target)]
        pub fn $name(
            #[attr] lower: bool,
            #[dims(..b, n, n)] mut a: InOut<$T>,
            #[dims(..b, n)] mut values: Out<$R>,
            pool: ThreadPool,
        ) -> Result<()> {
            let [n, _] = sizes(a.shape());
            let items = chunks(&mut a, n * n).zip(chunks(&mut values, n));
            let cost = (10.0 * work([n, n]), matrices::<$T>([n, n], 8));
            each(&pool, cost, items, |(a, values), par| eigen(a, n, lower, values, par))
        }
    )*};
}

eigen_targets! {
    eigh_f32 "Eigh.f32" f32 f32,
    eigh_f64 "Eigh.f64" f64 f64,
    eigh_c64 "Eigh.c64" C64 f32,
    eigh_c128 "Eigh.c128" C128 f64,
}
