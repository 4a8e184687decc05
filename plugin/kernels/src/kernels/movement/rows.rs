//! Copies of rows, most of them of a few elements, which follow each other in the result.

use bytemuck::Pod;

/// The elements of a block: a few instructions copy it.
const BLOCK: usize = 16;

/// Copies rows of `len` elements one after another, from places in `src`. For short ones, a call of `memcpy` takes
/// longer than the copy.
pub(in crate::kernels) fn copy_rows<T: Pod>(
    src: &[T],
    starts: impl Iterator<Item = usize>,
    rows: &mut [T],
    len: usize,
) {
    match len {
        1 => copy_by::<T, 1>(src, starts, rows, len),
        2 => copy_by::<T, 2>(src, starts, rows, len),
        3..=4 => copy_by::<T, 4>(src, starts, rows, len),
        5..=8 => copy_by::<T, 8>(src, starts, rows, len),
        9..=BLOCK => copy_by::<T, BLOCK>(src, starts, rows, len),
        17..=32 => copy_blocks::<T, BLOCK>(src, starts, rows, len),
        33..=48 => copy_blocks::<T, 32>(src, starts, rows, len),
        49..=64 => copy_blocks::<T, 48>(src, starts, rows, len),
        _ => rows.chunks_exact_mut(len).zip(starts).for_each(|(row, start)| row.copy_from_slice(&src[start..][..len])),
    }
}

/// [`copy_rows`] of at most `WIDE` elements, which are an instruction or two: what is written behind a row is
/// overwritten by the next.
#[inline(always)]
fn copy_by<T: Pod, const WIDE: usize>(src: &[T], starts: impl Iterator<Item = usize>, rows: &mut [T], len: usize) {
    for (row, start) in (0..rows.len() / len).zip(starts) {
        let (from, to) = (&src[start..], &mut rows[row * len..]);
        match (to.first_chunk_mut::<WIDE>(), from.first_chunk::<WIDE>()) {
            (Some(to), Some(from)) => *to = *from,
            _ => copy_one(&mut to[..len], &from[..len]),
        }
    }
}

/// Copies a row. Inlined, LLVM would make one call of `memcpy` of this and of the copies of known sizes.
#[cold]
#[inline(never)]
fn copy_one<T: Pod>(to: &mut [T], from: &[T]) {
    to.copy_from_slice(from);
}

/// [`copy_rows`] of more than `HEAD` elements, by at most a block: the first ones, then the last block.
#[inline(always)]
fn copy_blocks<T: Pod, const HEAD: usize>(src: &[T], starts: impl Iterator<Item = usize>, rows: &mut [T], len: usize) {
    for (row, start) in rows.chunks_exact_mut(len).zip(starts) {
        let from = &src[start..][..len];
        if let (Some(to), Some(from)) = (row.first_chunk_mut::<HEAD>(), from.first_chunk()) {
            *to = *from;
        }
        if let (Some(to), Some(from)) = (row.last_chunk_mut::<BLOCK>(), from.last_chunk()) {
            *to = *from;
        }
    }
}
