//! Elements that repeat for the row that each stands for.

use bytemuck::Pod;

use crate::math::level::vectorised;

/// Repeats each element `N` times: a fill of a few elements takes longer to begin than to do.
#[inline(always)]
fn spread_by<T: Pod, const N: usize>(from: &[T], out: &mut [T]) {
    for (out, &x) in out.as_chunks_mut::<N>().0.iter_mut().zip(from) {
        *out = [x; N];
    }
}

vectorised! {
/// Repeats each element for its row, of `row` elements.
pub(super) fn spread<T: Pod>(from: &[T], row: usize, out: &mut [T]) {
    match row {
        // LLVM makes vectors of products of wider numbers, but not of copies side by side.
        2 if size_of::<T>() == 1 => {
            let (from, out) = (bytemuck::cast_slice::<T, u8>(from), bytemuck::cast_slice_mut::<T, u8>(out));
            for (out, &x) in out.as_chunks_mut::<2>().0.iter_mut().zip(from) {
                *out = (u16::from(x) * 0x101).to_ne_bytes();
            }
        }
        2 if size_of::<T>() == 2 => {
            let (from, out) = (bytemuck::cast_slice::<T, u16>(from), bytemuck::cast_slice_mut::<T, u8>(out));
            for (out, &x) in out.as_chunks_mut::<4>().0.iter_mut().zip(from) {
                *out = (u32::from(x) * 0x1_0001).to_ne_bytes();
            }
        }
        2 => spread_by::<T, 2>(from, out),
        3 => spread_by::<T, 3>(from, out),
        4 => spread_by::<T, 4>(from, out),
        8 => spread_by::<T, 8>(from, out),
        16 => spread_by::<T, 16>(from, out),
        _ => {
            for (out, &x) in out.chunks_exact_mut(row).zip(from) {
                out.fill(x);
            }
        }
    }
}
}
