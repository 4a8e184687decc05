//! Items in the order of one digit, by several threads.

use std::marker::PhantomData;

use bytemuck::Pod;
use oxcall::Error;

use super::key::Bits;
use super::radix::BUCKETS;
use crate::kernel::Context;
use crate::pool::Cost;

/// The threads among which the work on a row is divided, and the cost of all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threads {
    pub(super) count: usize,
    pub(super) cost: Cost,
}

impl Threads {
    /// Calls `work` with parts of a slice and their first indices.
    pub(super) fn divide<A: Pod + Send>(
        self,
        cx: Context<'_>,
        all: &mut [A],
        work: impl Fn(usize, &mut [A]) + Send + Sync,
    ) {
        if self.count < 2 {
            // The threads have other rows.
            return work(0, all);
        }
        cx.pool.for_chunks(self.cost, all, 1, work);
    }
}

/// Copies items in the order of their digits at `shift`; those with equal digits keep theirs. Returns where the items
/// of each digit end; `None` if all have the same, and nothing is copied.
///
/// # Errors
/// RESOURCE_EXHAUSTED if memory runs out.
///
/// # Panics
/// If `to` is shorter than `from`.
pub(super) fn partition<T: Bits>(
    cx: Context<'_>,
    from: &[T],
    to: &mut [T],
    shift: u32,
    threads: Threads,
) -> Result<Option<Vec<u32>>, Error> {
    let len = from.len().div_ceil(threads.count).max(1);
    // The number of items with each digit in each thread's part, then the place of the next of them.
    let mut counts = cx.filled(threads.count, [0u32; BUCKETS])?;
    let parts = counts.iter_mut().zip(from.chunks(len)).collect();
    cx.pool.for_each(threads.cost, parts, |(counts, part): (&mut [u32; BUCKETS], &[T])| {
        part.iter().for_each(|item| counts[item.digit(shift, BUCKETS - 1)] += 1);
    });
    let (mut next, mut ends) = (0, Vec::with_capacity(BUCKETS)); // Bounded: digits.
    for digit in 0..BUCKETS {
        let first = next;
        for counts in counts.iter_mut() {
            (counts[digit], next) = (next, next + counts[digit]);
        }
        if (next - first) as usize == from.len() {
            return Ok(None);
        }
        ends.push(next);
    }
    let places = Places::new(to);
    let parts = counts.iter_mut().zip(from.chunks(len)).collect();
    cx.pool.for_each(threads.cost, parts, |(counts, part): (&mut [u32; BUCKETS], &[T])| {
        for item in part {
            let place = &mut counts[item.digit(shift, BUCKETS - 1)];
            // SAFETY: the places of each digit of each part begin where those before it end, and are as many as were
            // counted in the same items, so no two items have one place.
            unsafe { places.write(*place as usize, *item) };
            *place += 1;
        }
    });
    Ok(Some(ends))
}

/// The places of a slice, which several threads write.
struct Places<'a, T> {
    first: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: callers of `write` promise that only one thread writes each place, and nothing reads the slice meanwhile.
unsafe impl<T: Send> Sync for Places<'_, T> {}

impl<'a, T: Copy> Places<'a, T> {
    fn new(slice: &'a mut [T]) -> Places<'a, T> {
        Places { first: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// Writes one place.
    ///
    /// # Panics
    /// If `place` is out of bounds.
    ///
    /// # Safety
    /// No other thread writes the same place.
    #[inline(always)]
    unsafe fn write(&self, place: usize, value: T) {
        assert!(place < self.len, "a place is inside");
        // SAFETY: the place is inside the slice, which is borrowed, and the caller's alone.
        unsafe { self.first.add(place).write(value) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Threads, partition};
    use crate::interrupt::Era;
    use crate::kernel::Context;
    use crate::memory::Allocator;
    use crate::pool::{Cost, Pool};

    /// Also under Miri: every item has a place of its own.
    #[test]
    fn items_keep_their_order_within_each_digit() {
        let (pool, memory) = (Pool::new(3), Arc::new(Allocator::new()));
        let cx = Context { pool: &pool, memory: &memory, era: Era::now() };
        let threads = Threads { count: 3, cost: Cost { flops: 1e9, bytes: 0.0 } };
        let items: Vec<u64> = (0..100).map(|index| (index * 37 % 5) << 40 | index).collect();
        let mut found = vec![0; items.len()];
        let ends = partition(cx, &items, &mut found, 40, threads).expect("there is memory").expect("digits differ");
        let mut expected = items.clone();
        expected.sort_by_key(|item| item >> 40);
        assert_eq!((&found, &ends[..5]), (&expected, &[20, 40, 60, 80, 100][..]));
        assert!(
            partition(cx, &items, &mut found, 50, threads).expect("there is memory").is_none(),
            "all have the same"
        );
        assert_eq!(found, expected, "nothing is copied");
    }
}
