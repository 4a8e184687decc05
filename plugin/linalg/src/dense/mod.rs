//! The algorithms, on one matrix at a time.

pub mod eigen;
pub mod factor;
pub mod hessenberg;
pub mod qr;
pub mod reflector;
pub mod rotation;
pub mod schur_complex;
pub mod schur_real;
pub mod svd;
pub mod symmetric;
pub mod triangular;
pub mod tridiagonal;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

/// Calls `work` with scratch memory.
fn with_scratch<R>(needed: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    work(MemStack::new(&mut MemBuffer::new(needed)))
}
