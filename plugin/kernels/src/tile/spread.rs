//! Elements that repeat for the row that each stands for.

use bytemuck::Pod;

use crate::kernels::simd::vectorised;

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
