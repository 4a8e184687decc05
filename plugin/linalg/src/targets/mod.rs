//! The handlers. Each file has one factorization or solver with its four targets, whose names begin with the letter of
//! their type: `s`, `d`, `c` and `z` for `f32`, `f64`, and the complex numbers of these.
//!
//! JAX passes matrices in column-major layout (`operand_layouts`), so a buffer of shape `[..., m, n]` holds columns of
//! `m` elements. Batches are shared among the host's threads.

pub mod cholesky;
pub mod eigen;
pub mod generic;
pub mod hessenberg;
pub mod lu;
pub mod qr;
pub mod schur;
pub mod svd;
pub mod symmetric;
#[cfg(test)]
mod tests;
pub mod top_k;
pub mod triangular;
pub mod tridiagonal;

use faer::Par;
use num_complex::Complex;
use oxcall::prelude::*;
use oxcall::sync::Mutex;

use crate::dense::many::LANES;
use crate::dense::parallelism;
use crate::{memory, workers};

/// The complex number of two `f32`.
pub type C64 = Complex<f32>;
/// The complex number of two `f64`.
pub type C128 = Complex<f64>;

/// The rows and columns of the matrices in a buffer.
fn sizes(shape: &[usize]) -> [usize; 2] {
    match *shape {
        [.., rows, cols] => [rows, cols],
        _ => [0, 0],
    }
}

/// The matrices or vectors of `len` elements in a buffer.
fn chunks<T>(data: &mut [T], len: usize) -> std::slice::ChunksExactMut<'_, T> {
    data.chunks_exact_mut(len.max(1))
}

/// Calls `run` with groups of [`LANES`] matrices of `shape`, on the host's threads.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory is short.
fn groups<I: Send>(
    pool: &ThreadPool<'_>,
    shape: [usize; 2],
    items: impl Iterator<Item = I>,
    run: impl Fn(I) + Sync,
) -> Result<()> {
    // Vectors compute a group in about the time of two matrices.
    each(pool, (2.0 * work(shape), memory::matrices::<f64>(shape, 2 * LANES)), items, |item, _| run(item))
}

/// The meaning of the letter `value` of attribute `name`.
fn choose<X: Copy>(name: &str, value: u8, choices: &[(u8, X)]) -> Result<X> {
    let found = choices.iter().find(|choice| choice.0 == value);
    found.map(|choice| choice.1).ok_or_else(|| {
        let letters: Vec<String> = choices.iter().map(|choice| format!("`{}`", char::from(choice.0))).collect();
        let letters = letters.join(", ");
        Error::invalid_argument(format!("attribute `{name}`: expected one of {letters}, got `{}`", char::from(value)))
    })
}

/// The error for reflectors from which no `m x n` matrix with orthonormal columns can be formed.
#[cold]
fn too_many_reflectors(count: usize, [rows, cols]: [usize; 2]) -> Error {
    Error::invalid_argument(format!(
        "{count} reflectors in a {rows} x {cols} matrix: expected at least as many rows as columns, and columns as \
         reflectors"
    ))
}

/// Checks a dimension that shape patterns cannot express.
fn expect(name: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("{name}: expected {expected}, got {found}")))
}

/// `m n^2` for the smaller `n`: the order of the work on one matrix.
fn work([m, n]: [usize; 2]) -> f64 {
    (m * n) as f64 * m.min(n) as f64
}

/// Fewer operations than this are not worth another thread.
const GRAIN: f64 = 1e5;

/// Calls `run` with each item: several at once on the host's threads if there are several, or otherwise with leave to
/// use as many of rayon's, if it is large. An item takes about `work` operations, and up to `scratch` bytes.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory is short.
fn each<I: Send>(
    pool: &ThreadPool<'_>,
    (work, scratch): (f64, usize),
    items: impl Iterator<Item = I>,
    run: impl Fn(I, Par) + Sync,
) -> Result<()> {
    let mut items: Vec<I> = items.collect();
    if items.len() == 1 {
        memory::check(scratch)?;
        items.drain(..).for_each(|item| match parallelism(pool.num_threads(), work) {
            Par::Seq => run(item, Par::Seq),
            Par::Rayon(_) => {
                workers::with_threads(pool.num_threads(), |threads| run(item, parallelism(threads, work)));
            }
        });
        return Ok(());
    }
    memory::check(scratch.saturating_mul(pool.num_threads().clamp(1, items.len().max(1))))?;
    let grain = (GRAIN / work.max(1.0)).ceil() as usize;
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    pool.parallel_for(items.len(), grain, |range| {
        for item in &items[range] {
            // Each is taken once, so nobody waits for the lock.
            let item = item.lock().take();
            if let Some(item) = item {
                run(item, Par::Seq);
            }
        }
    });
    Ok(())
}
