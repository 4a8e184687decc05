//! Arrays assembled from pieces of others.

use oxcall_hlo::TensorType;
use oxcall_kernels::kernels::nest::{Loop, Nest, Walk, collapse};
use oxcall_kernels::pool::{Cost, Pool};

/// The assembly of an array from pieces of equal length: for each piece, its source and its offset in that source, in
/// bytes.
pub(crate) struct Pieces {
    loops: Nest<2>,
    len: usize,
}

/// The distance between neighbours along each dimension, in bytes.
pub(crate) fn strides(ty: &TensorType) -> Vec<usize> {
    let mut strides = vec![ty.element.byte_width(); ty.rank()]; // Bounded: dimensions.
    for dim in (1..ty.rank()).rev() {
        strides[dim - 1] = strides[dim] * ty.dims[dim];
    }
    strides
}

impl Pieces {
    /// Pieces of `len` bytes. Each loop steps through the sources and the bytes within them.
    pub(crate) fn new(loops: impl IntoIterator<Item = Loop<2>>, len: usize) -> Pieces {
        Pieces { loops: collapse(loops), len }
    }

    /// Whether there is only one piece.
    pub(crate) fn is_one(&self) -> bool {
        self.loops.is_empty()
    }

    /// Assembles the array; the first piece starts at byte `offset` of the first source.
    pub(crate) fn copy(&self, pool: &Pool, sources: &[&[u8]], offset: usize, result: &mut [u8]) {
        if result.is_empty() {
            return;
        }
        let cost = Cost { flops: 0.0, bytes: 2.0 * result.len() as f64 };
        pool.for_chunks(cost, result, 64, |first, mut result| {
            let mut walk = Walk::new(&self.loops, [0, offset as isize], first / self.len);
            let mut skipped = first % self.len;
            while !result.is_empty() {
                let [source, offset] = walk.step().map(|offset| offset as usize);
                let len = (self.len - skipped).min(result.len());
                let (piece, rest) = result.split_at_mut(len);
                piece.copy_from_slice(&sources[source][offset + skipped..][..len]);
                (result, skipped) = (rest, 0);
            }
        });
    }
}
