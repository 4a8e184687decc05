//! The algorithms, on one matrix at a time.

pub mod deflation;
pub mod eigen;
pub mod factor;
pub mod hessenberg;
pub mod isolated;
pub mod many;
pub mod qr;
pub mod reflector;
pub mod rotation;
pub mod scale;
pub mod schur_complex;
pub mod schur_real;
pub mod small;
mod standard;
pub mod svd;
pub mod symmetric;
pub mod triangular;
pub mod tridiagonal;

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

/// Fewer operations than this on one matrix are not shared among threads: faer's threads wait for each other at every
/// small product, which takes longer than the products do.
const SHARED: f64 = 2.5e8;

/// The size from which on `faer` divides eigenvalue problems, instead of iterating by rotations.
const DIVIDED: usize = 96;

/// How about `work` operations on one matrix are done, where `threads` threads of rayon are there for it.
pub fn parallelism(threads: usize, work: f64) -> Par {
    if threads > 1 && work >= SHARED { Par::rayon(threads) } else { Par::Seq }
}

/// Calls `work` with scratch memory.
fn with_scratch<R>(needed: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    work(MemStack::new(&mut MemBuffer::new(needed)))
}
