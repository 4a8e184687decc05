//! Parallel loops on the host's thread pool.

mod job;

use std::ops::Range;

use super::{Context, FromContext};
use crate::Result;

/// The most chunks for each thread. Chunks of unequal work, and processors that others use too, leave a thread waiting
/// for another's last one.
pub(crate) const CHUNKS: usize = 16;

/// The host's thread pool: XLA:CPU's intra-op pool.
///
/// Loops are scoped: they borrow the handler's buffers, and the calling thread takes part, so that they finish even
/// if no thread of the pool ever comes.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn sine(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>, pool: ThreadPool) {
///     pool.for_each_chunk(&mut y, 1024, 1, |chunk, y| {
///         for (y, x) in y.iter_mut().zip(&x[chunk * 1024..]) {
///             *y = x.sin();
///         }
///     });
/// }
/// # let out = oxcall::testing::call::<sine>().arg(vec![0f32; 5000]).threads(3).run().unwrap();
/// # assert!(out.get::<f32>(0).iter().all(|&y| y == 0.0));
/// ```
#[derive(Clone, Copy)]
pub struct ThreadPool<'f> {
    context: Context<'f>,
    threads: usize,
}

impl<'f> ThreadPool<'f> {
    /// The contexts of the call.
    pub(crate) fn context(&self) -> &Context<'f> {
        &self.context
    }

    /// How many threads work at the most, the calling one included.
    pub fn num_threads(&self) -> usize {
        self.threads
    }

    /// Calls `body` with disjoint ranges that together are `0..count`, on the calling thread and the pool's.
    ///
    /// `grain` is the least number of indices that is worth a hand-over: about the work of 10 microseconds. The loop
    /// runs on the calling thread alone if there are fewer than two grains.
    ///
    /// # Panics
    /// With the first panic of `body`, after all ranges have ended.
    pub fn parallel_for(&self, count: usize, grain: usize, body: impl Fn(Range<usize>) + Sync) {
        let grain = grain.max(1);
        let tasks = (count / grain).min(self.threads);
        if tasks < 2 {
            if count > 0 {
                body(0..count);
            }
            return;
        }
        let chunk = grain.max(count.div_ceil(tasks * CHUNKS));
        job::run(&body, count, chunk, tasks, |task, data| {
            // SAFETY: the pool calls the task once, with its data.
            unsafe { self.context.api.schedule(self.context.ctx, task, data) }.is_ok()
        });
    }

    /// Calls `body` with the index and the value of each piece of `out` that is `width` elements long (the last may
    /// be shorter): rows of a result.
    ///
    /// # Panics
    /// If `width` is 0 and `out` is not empty; with the first panic of `body`.
    pub fn for_each_chunk<T: Send>(
        &self,
        out: &mut [T],
        width: usize,
        grain: usize,
        body: impl Fn(usize, &mut [T]) + Sync,
    ) {
        if out.is_empty() {
            return;
        }
        assert!(width > 0, "chunks of no elements");
        let (len, base) = (out.len(), Shared(out.as_mut_ptr()));
        self.parallel_for(len.div_ceil(width), grain, |range| {
            let base = &base;
            for index in range {
                let start = index * width;
                // SAFETY: chunks are disjoint, each index comes once, and `out` is borrowed for the whole loop.
                let piece = unsafe { std::slice::from_raw_parts_mut(base.0.add(start), width.min(len - start)) };
                body(index, piece);
            }
        });
    }
}

struct Shared<T>(*mut T);

// SAFETY: used for disjoint pieces only.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<'f> FromContext<'f> for ThreadPool<'f> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        // jaxlib before 0.4.38 does not tell: one thread then.
        let threads = context.api.num_threads(context.ctx).unwrap_or(1);
        Ok(ThreadPool { context: *context, threads: usize::try_from(threads).unwrap_or(1).max(1) })
    }
}
