//! Copies of rows of a few elements, which follow each other in the result.

use bytemuck::Pod;

/// The fewest elements of a row that a call of `memcpy` copies as fast.
pub(super) const SHORT: usize = 16;

/// Copies rows of `len` elements, where `len` is less than [`SHORT`]. Row `i` begins at `start + i * pitch` in `src`.
pub(super) fn copy_rows<T: Pod>((src, start, pitch): (&[T], isize, isize), rows: &mut [T], len: usize) {
    let copy = match len {
        1 => copy_by::<T, 1>,
        2 => copy_by::<T, 2>,
        3..=4 => copy_by::<T, 4>,
        5..=8 => copy_by::<T, 8>,
        _ => copy_by::<T, SHORT>,
    };
    copy((src, start, pitch), rows, len);
}

/// [`copy_rows`] of at most `WIDE` elements, which are an instruction or two: what is written behind a row is
/// overwritten by the next.
#[inline(always)]
fn copy_by<T: Pod, const WIDE: usize>((src, start, pitch): (&[T], isize, isize), rows: &mut [T], len: usize) {
    let mut from = start;
    for row in 0..rows.len() / len {
        let (from_here, to) = (&src[from as usize..], &mut rows[row * len..]);
        match (to.first_chunk_mut::<WIDE>(), from_here.first_chunk::<WIDE>()) {
            (Some(to), Some(from)) => *to = *from,
            _ => to[..len].copy_from_slice(&from_here[..len]),
        }
        from += pitch;
    }
}
