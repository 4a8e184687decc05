//! Parallel loops on the host's thread pool.

use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Context, FromContext};
use crate::sync::{Condvar, Mutex};
use crate::{Result, panics};

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
        // Four chunks a thread even out what chunks of unequal work leave.
        let chunk = grain.max(count.div_ceil(tasks * 4));
        let job = Arc::new(Job {
            body: erase(&body),
            next: AtomicUsize::new(0),
            chunk,
            count,
            chunks: count.div_ceil(chunk),
            done: Mutex::new(Done { chunks: 0, panic: None }),
            all_done: Condvar::new(),
        });
        for _ in 1..tasks {
            let data = Arc::into_raw(Arc::clone(&job)).cast_mut().cast();
            // SAFETY: the task owns one reference to the job, and touches the body only for chunks that it claimed.
            if unsafe { self.context.api.schedule(self.context.ctx, run_job, data) }.is_err() {
                // SAFETY: not scheduled, so the reference is still ours. The calling thread does the work.
                drop(unsafe { Arc::from_raw(data.cast::<Job>()) });
                break;
            }
        }
        job.work();
        job.wait();
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

/// A loop in progress. Tasks that come late hold it alive, but find no chunk left.
struct Job {
    body: *const (dyn Fn(Range<usize>) + Sync),
    next: AtomicUsize,
    chunk: usize,
    count: usize,
    chunks: usize,
    done: Mutex<Done>,
    all_done: Condvar,
}

struct Done {
    chunks: usize,
    /// The first panic's payload and place.
    panic: Option<(Box<dyn Any + Send>, Option<String>)>,
}

// SAFETY: the body is Sync, and is used only while `parallel_for` waits.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// The body without its lifetime.
fn erase<'a>(body: &'a (dyn Fn(Range<usize>) + Sync + 'a)) -> *const (dyn Fn(Range<usize>) + Sync) {
    let body: *const (dyn Fn(Range<usize>) + Sync + 'a) = body;
    // SAFETY: only the lifetime changes; `Job` is used within it.
    unsafe { std::mem::transmute(body) }
}

impl Job {
    /// Runs chunks until none is left.
    fn work(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.chunks {
                return;
            }
            let start = index * self.chunk;
            let range = start..(start + self.chunk).min(self.count);
            // SAFETY: this chunk is claimed and not done, so `parallel_for` still waits, and the body lives.
            let result = catch_unwind(AssertUnwindSafe(|| unsafe { (*self.body)(range) }));
            let mut done = self.done.lock();
            done.chunks += 1;
            let mut later = None;
            if let Err(payload) = result {
                match done.panic {
                    None => done.panic = Some((payload, panics::take_location())),
                    // Dropped below, where the lock is free: its drop is the user's code.
                    Some(_) => later = Some(payload),
                }
            }
            if done.chunks == self.chunks {
                self.all_done.notify_all();
            }
            drop(done);
            // Only the first panic goes on. Unwinding from the drop of another would end a thread of the host's pool.
            panics::drop_quietly(later);
        }
    }

    /// Waits until every chunk is done; goes on with the first panic.
    fn wait(&self) {
        let mut done = self.done.lock();
        while done.chunks < self.chunks {
            done = self.all_done.wait(done);
        }
        if let Some((payload, location)) = done.panic.take() {
            drop(done);
            panics::resume(payload, location);
        }
    }
}

/// The task that the host's pool runs.
///
/// # Safety
/// `data` is a reference to a job that this call owns.
unsafe extern "C" fn run_job(data: *mut c_void) {
    // SAFETY: as the caller guarantees.
    let job = unsafe { Arc::from_raw(data.cast::<Job>()) };
    job.work();
}

impl<'f> FromContext<'f> for ThreadPool<'f> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        // jaxlib before 0.4.38 does not tell: one thread then.
        let threads = context.api.num_threads(context.ctx).unwrap_or(1);
        Ok(ThreadPool { context: *context, threads: usize::try_from(threads).unwrap_or(1).max(1) })
    }
}
