//! A loop in chunks, which threads share.

use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::panics;
use crate::sync::{Condvar, Mutex};

/// A task for a pool of threads.
pub(super) type Task = unsafe extern "C" fn(*mut c_void);

/// Calls `body` with ranges of `chunk` indices (the last may be shorter) that together are `0..count`: on this thread,
/// and by one task less than `tasks`. `schedule` gives a task and its data to a pool, which calls it once, or returns
/// whether it has not taken it.
///
/// # Panics
/// With the first panic of `body`, after all ranges have ended.
pub(super) fn run(
    body: &(dyn Fn(Range<usize>) + Sync),
    count: usize,
    chunk: usize,
    tasks: usize,
    schedule: impl Fn(Task, *mut c_void) -> bool,
) {
    let chunks = count.div_ceil(chunk);
    let done = Mutex::new(Done { chunks: 0, panic: None });
    let parts = parts(chunks, tasks);
    let job = Arc::new(Job { body: erase(body), parts, chunk, count, chunks, done, all_done: Condvar::new() });
    for _ in 1..tasks {
        // The task owns one reference to the job, and touches the body only for chunks that it claimed.
        let data = Arc::into_raw(Arc::clone(&job)).cast_mut().cast();
        if !schedule(task, data) {
            // SAFETY: not scheduled, so the reference is still ours. The calling thread does the work.
            drop(unsafe { Arc::from_raw(data.cast::<Job>()) });
            break;
        }
    }
    job.work();
    job.wait();
}

/// A loop in progress. Tasks that come late hold it alive, but find no chunk left.
struct Job {
    body: *const (dyn Fn(Range<usize>) + Sync),
    parts: Box<[Part]>,
    /// The indices of each chunk but the last, the number of indices, and that of chunks.
    chunk: usize,
    count: usize,
    chunks: usize,
    done: Mutex<Done>,
    all_done: Condvar,
}

/// Adjacent chunks, most of which one thread runs, counted in a cache line of their own: threads whose counters share a
/// line wait for each other.
#[repr(align(128))]
struct Part {
    /// The next chunk, or one from `end` on.
    next: AtomicUsize,
    end: usize,
    has_thread: AtomicBool,
}

/// Divides chunks into parts, one for each task.
fn parts(chunks: usize, tasks: usize) -> Box<[Part]> {
    let begin = |part| chunks * part / tasks;
    let part =
        |part| Part { next: AtomicUsize::new(begin(part)), end: begin(part + 1), has_thread: AtomicBool::new(false) };
    (0..tasks).map(part).collect()
}

/// The progress of a job.
struct Done {
    chunks: usize,
    /// The first panic's payload and place.
    panic: Option<(Box<dyn Any + Send>, Option<String>)>,
}

// SAFETY: the body is Sync, and is used only while `run` waits.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

/// The number of the processor that this thread runs on.
#[cfg(all(target_os = "linux", not(miri)))]
fn processor() -> usize {
    unsafe extern "C" {
        safe fn sched_getcpu() -> std::ffi::c_int;
    }
    usize::try_from(sched_getcpu()).unwrap_or(0)
}

/// A number of this thread, where the system does not tell which processor it runs on.
#[cfg(not(all(target_os = "linux", not(miri))))]
fn processor() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// The body without its lifetime.
fn erase<'a>(body: &'a (dyn Fn(Range<usize>) + Sync + 'a)) -> *const (dyn Fn(Range<usize>) + Sync) {
    let body: *const (dyn Fn(Range<usize>) + Sync + 'a) = body;
    // SAFETY: only the lifetime changes; `Job` is used within it.
    unsafe { std::mem::transmute(body) }
}

impl Part {
    fn take(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < self.end).then_some(next)
    }
}

impl Job {
    /// Runs chunks until none is left, first those of a part of the thread's own.
    fn work(&self) {
        let own = self.own_part();
        let (before, from_own) = self.parts.split_at(own);
        for part in from_own.iter().chain(before) {
            while let Some(index) = part.take() {
                self.run(index);
            }
        }
    }

    /// The part that this thread begins with. It tends to be the same in all loops over as many chunks, so that what a
    /// processor has written or read is in its own cache when the next call needs it.
    fn own_part(&self) -> usize {
        let count = self.parts.len();
        let first = processor() % count;
        let has_no_thread = |part: &usize| !self.parts[*part].has_thread.swap(true, Ordering::Relaxed);
        (first..first + count).map(|part| part % count).find(has_no_thread).unwrap_or(first)
    }

    fn run(&self, index: usize) {
        let start = index * self.chunk;
        let range = start..(start + self.chunk).min(self.count);
        // SAFETY: this chunk is claimed and not done, so `run` still waits, and the body lives.
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
unsafe extern "C" fn task(data: *mut c_void) {
    // SAFETY: as the caller guarantees.
    let job = unsafe { Arc::from_raw(data.cast::<Job>()) };
    job.work();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicPtr;

    use super::*;

    /// Runs the tasks on threads of their own.
    fn run_on_threads(count: usize, chunk: usize, tasks: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
        std::thread::scope(|scope| {
            run(body, count, chunk, tasks, |task, data| {
                let data = AtomicPtr::new(data);
                // SAFETY: called once, with its data.
                scope.spawn(move || unsafe { task(data.into_inner()) });
                true
            });
        });
    }

    #[test]
    fn each_index_comes_once() {
        for (count, chunk, tasks) in [(1, 1, 2), (7, 3, 2), (64, 1, 5), (100, 7, 3), (5, 1, 16)] {
            let calls: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            run_on_threads(count, chunk, tasks, &|range| {
                assert!(range.len() <= chunk);
                range.for_each(|index| _ = calls[index].fetch_add(1, Ordering::Relaxed));
            });
            assert!(calls.iter().all(|calls| calls.load(Ordering::Relaxed) == 1), "{count} by {chunk} on {tasks}");
        }
    }

    #[test]
    fn threads_begin_with_parts_of_their_own_and_finish_those_of_others() {
        let (started, seen) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let is_first = |range: &Range<usize>| range.start.is_multiple_of(8);
        run_on_threads(24, 1, 3, &|range| {
            if is_first(&range) {
                // Threads that come to a part's first chunk wait for the others.
                started.fetch_add(1, Ordering::Relaxed);
                while started.load(Ordering::Relaxed) < 3 {
                    std::thread::yield_now();
                }
            }
            if range.start >= 16 {
                // The last part takes longer than the others.
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            seen.lock().push((std::thread::current().id(), range.start));
        });
        let seen = seen.into_inner();
        let of = |thread| seen.iter().filter(move |(id, _)| *id == thread).map(|(_, chunk)| *chunk).collect::<Vec<_>>();
        let threads: std::collections::HashSet<_> = seen.iter().map(|(id, _)| *id).collect();
        assert_eq!(threads.len(), 3);
        let mut firsts: Vec<_> = threads.iter().map(|thread| of(*thread)[0]).collect();
        firsts.sort_unstable();
        assert_eq!(firsts, [0, 8, 16]);
        let long = threads.iter().filter(|thread| of(**thread).iter().any(|chunk| *chunk >= 16)).count();
        assert!(long > 1, "one thread did all of the last part: {seen:?}");
    }

    #[test]
    fn tasks_that_a_pool_does_not_take_are_not_missed() {
        let sum = AtomicUsize::new(0);
        let body = |range: Range<usize>| _ = sum.fetch_add(range.sum(), Ordering::Relaxed);
        run(&body, 10, 2, 4, |_, _| false);
        assert_eq!(sum.into_inner(), 45);
    }
}
