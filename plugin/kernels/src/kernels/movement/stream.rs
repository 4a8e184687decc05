//! Stores past the caches, for results that no cache holds until they are read: the lines need not be read first. And
//! loads ahead, of lines that the processor cannot foresee.

use bytemuck::Pod;

/// The bytes of a cache line.
const LINE: usize = 64;

/// Copies elements: past the caches if they are a whole cache line. The thread must call [`finish`] after its last
/// copy.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) fn copy<T: Pod>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    let is_line = size_of_val(to) == LINE && to.as_ptr().addr().is_multiple_of(LINE);
    if !is_line || size_of_val(from) != LINE {
        return to.copy_from_slice(from);
    }
    let (from, to) = (from.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
    for i in 0..LINE / size_of::<__m128i>() {
        // SAFETY: both slices have as many bytes as a line, and the start of `to` is aligned to it. `finish` orders the
        // store before other threads' loads.
        unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) };
    }
}

/// Copies elements, whose whole cache lines go past the caches. The thread must call [`finish`] after its last copy.
#[inline(always)]
pub(super) fn copy_row<T: Pod>(from: &[T], to: &mut [T]) {
    let line = LINE / size_of::<T>();
    let head = to.as_ptr().align_offset(LINE).min(to.len());
    let ((from_head, from), (to_head, to)) = (from.split_at(head), to.split_at_mut(head));
    to_head.copy_from_slice(from_head);
    from.chunks(line).zip(to.chunks_mut(line)).for_each(|(from, to)| copy(from, to));
}

/// Begins to load the cache lines of `elements`, which this thread uses soon.
#[inline(always)]
pub(crate) fn prefetch<T: Pod>(elements: &[T]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in elements.chunks(LINE / size_of::<T>()) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction, which does not fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    let _ = elements;
}

/// Copies elements.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) fn copy<T: Pod>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}

/// Makes this thread's copies visible to the threads that it synchronises with.
pub(super) fn finish() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of this architecture has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
