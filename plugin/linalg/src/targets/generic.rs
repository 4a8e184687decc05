//! The targets that JAX lowers QR factorization to where a platform has none of its own. Their matrices are row-major.

use oxcall::prelude::*;

use super::qr::last;
use super::{C64, C128, chunks, each, expect, sizes, work};
use crate::dense::qr;
use crate::matrix::Matrix;
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
    each(&pool, work(shape), items, |(a, taus), par| in_columns(a, shape, |a| qr::factor(a, taus, par)));
    Ok(())
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
        return Err(Error::invalid_argument(format!("{count} reflectors in a {} x {} matrix", shape[0], shape[1])));
    }
    each(&pool, work(shape), chunks(&mut a, shape[0] * shape[1]).enumerate(), |(index, a), par| {
        in_columns(a, shape, |a| qr::form_q(a, &taus[index * count..][..count], par));
    });
    Ok(())
}
