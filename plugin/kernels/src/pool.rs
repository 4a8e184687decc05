//! The threads of a client, and the division of kernels' work among them.

mod contention;
#[allow(unsafe_code, reason = "lends the work of callers to threads")]
mod helpers;
#[allow(unsafe_code, reason = "asks the system for the processors of threads")]
mod placement;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytemuck::Pod;
use oxcall::Error;

use self::contention::Contention;
use self::helpers::{Helpers, Timing};
use crate::environment::set_default_environment;
use crate::sync::{Mutex, SPIN};

/// The estimated cost of a piece of work.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Arithmetic operations; a transcendental function counts as about ten of them.
    pub flops: f64,
    /// Bytes read and written.
    pub bytes: f64,
}

impl Cost {
    /// The time on one core, in nanoseconds: the larger of both times, at eight operations and forty bytes per
    /// nanosecond, which caches give; what exceeds them is worth splitting by far.
    pub fn nanos(self) -> f64 {
        (self.flops / 8.0).max(self.bytes / 40.0)
    }
}

impl std::ops::Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost { flops: self.flops + other.flops, bytes: self.bytes + other.bytes }
    }
}

/// The outcome of a piece of work: nothing, or a result.
pub trait Outcome: Sized {
    /// Records an error, unless an earlier one was recorded.
    fn note(self, failure: &Mutex<Option<Error>>);
    /// The outcome of all pieces.
    fn of(failure: Mutex<Option<Error>>) -> Self;
}

impl Outcome for () {
    fn note(self, _: &Mutex<Option<Error>>) {}

    fn of(_: Mutex<Option<Error>>) {}
}

impl Outcome for Result<(), Error> {
    fn note(self, failure: &Mutex<Option<Error>>) {
        if let Err(error) = self {
            failure.lock().get_or_insert(error);
        }
    }

    fn of(failure: Mutex<Option<Error>>) -> Result<(), Error> {
        failure.into_inner().map_or(Ok(()), Err)
    }
}

/// Work cheaper than this runs on one thread if the others sleep: to wake one takes about 12 microseconds of the
/// caller, and after about 45 it has begun.
const WORTH_WAKING_NANOS: f64 = 60_000.0;

/// Work cheaper than this runs on one thread in any case.
const WORTH_SPLITTING_NANOS: f64 = 20_000.0;

/// The least work of a piece: a thread takes one in about a microsecond.
const PIECE_NANOS: f64 = 8_000.0;

thread_local! {
    /// Whether this thread divides no work.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// The threads of a client, started when work first needs them; none if there is only one core.
#[derive(Debug)]
pub struct Pool {
    threads: usize,
    helpers: OnceLock<Helpers>,
    workers: OnceLock<rayon::ThreadPool>,
    contention: Contention,
    /// The jobs that workers were given and have not ended.
    jobs: AtomicUsize,
    /// When work that was worth splitting, but not worth waking a thread for, last ended: in nanoseconds from `start`.
    last: AtomicU64,
    start: Instant,
}

impl Pool {
    /// A pool of `threads` threads (at least one), which are not started yet.
    pub fn new(threads: usize) -> Pool {
        Pool {
            threads: threads.max(1),
            helpers: OnceLock::new(),
            workers: OnceLock::new(),
            contention: Contention::new(),
            jobs: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            start: Instant::now(),
        }
    }

    /// The number of threads among which work is divided.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The threads that run programs, tasks of handlers, and work that is divided by rayon, started by the first
    /// caller.
    ///
    /// # Panics
    /// If the system refuses to start threads.
    pub fn workers(&self) -> &rayon::ThreadPool {
        self.workers.get_or_init(|| {
            let name = |index| format!("oxcall-worker-{index}");
            // Threads inherit the environment of the thread that happens to start them.
            let start = |_| set_default_environment();
            rayon::ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .thread_name(name)
                .start_handler(start)
                .build()
                .expect("threads start")
        })
    }

    /// Whether callers run short programs of this `cost` [alone](Pool::alone), because other processes hold up the
    /// threads. None overtakes a program that workers were given.
    pub fn is_alone(&self, cost: Cost) -> bool {
        self.contention.is_alone(cost) && self.jobs.load(Ordering::Relaxed) == 0
    }

    /// Calls `work`, which is divided into the same pieces as ever, all of which this thread does.
    pub fn alone<R>(work: impl FnOnce() -> R) -> R {
        struct Restored(bool);
        impl Drop for Restored {
            fn drop(&mut self) {
                ALONE.set(self.0);
            }
        }
        let _restored = Restored(ALONE.replace(true));
        work()
    }

    /// Gives `job`, which does not panic, to a worker, or back to the caller if the system refuses to start threads.
    pub fn spawn<F: FnOnce() + Send + 'static>(self: &Arc<Pool>, job: F) -> Option<F> {
        let Ok(workers) = catch_unwind(AssertUnwindSafe(|| self.workers())) else { return Some(job) };
        let (pool, asked) = (Arc::clone(self), Instant::now());
        let is_first = self.jobs.fetch_add(1, Ordering::Relaxed) == 0;
        workers.spawn(move || {
            if is_first {
                pool.contention.note(asked.elapsed(), Duration::ZERO);
            }
            job();
            pool.jobs.fetch_sub(1, Ordering::Relaxed);
        });
        None
    }

    /// Whether work of `cost` is worth splitting. The answer never changes, so the order of a sum may depend on it.
    pub fn splits(&self, cost: Cost) -> bool {
        self.threads > 1 && cost.nanos() >= WORTH_WAKING_NANOS
    }

    /// Whether to split work of `cost` now. Work that is too small to wake a helper for is split only while one is
    /// awake, or would be if the last such work had been split.
    fn splits_now(&self, cost: Cost) -> bool {
        let is_awake = || self.helpers.get().is_some_and(Helpers::is_awake);
        let is_recent = || {
            let last = self.last.load(Ordering::Relaxed);
            last > 0 && self.start.elapsed() < Duration::from_nanos(last) + SPIN
        };
        let is_worth_it = || self.splits(cost) || self.could_split(cost) && (is_awake() || is_recent());
        !ALONE.get() && is_worth_it()
    }

    fn could_split(&self, cost: Cost) -> bool {
        self.threads > 1 && Pool::is_worth_splitting(cost)
    }

    /// Whether several threads, if there are, may divide work of `cost`.
    pub fn is_worth_splitting(cost: Cost) -> bool {
        cost.nanos() >= WORTH_SPLITTING_NANOS
    }

    /// Whether several pieces of work, of this cost together, are worth sharing.
    pub fn is_worth_sharing(cost: Cost) -> bool {
        cost.nanos() >= WORTH_WAKING_NANOS
    }

    /// Whether work of `cost` is as long as a piece should be.
    pub fn is_piece(cost: Cost) -> bool {
        cost.nanos() >= PIECE_NANOS
    }

    /// The number of threads that work of `cost` is worth: 1 or all.
    pub(crate) fn threads_for(&self, cost: Cost) -> usize {
        if self.splits(cost) { self.threads } else { 1 }
    }

    /// Calls `work`, which rayon divides among `threads` threads: on a worker, unless it is for one thread.
    pub(crate) fn in_workers<R: Send>(&self, threads: usize, work: impl FnOnce() -> R + Send) -> R {
        if threads == 1 {
            return work();
        }
        let (mut work, mut result) = (Some(work), None);
        self.install(&mut || result = work.take().map(|work| work()));
        result.expect("the work was run")
    }

    /// Calls `work` with ranges that together make up `0..count`, each except the last a multiple of `unit` long; on
    /// several threads if the total `cost` is worth it.
    pub(crate) fn for_ranges(&self, cost: Cost, count: usize, unit: usize, work: impl Fn(Range<usize>) + Send + Sync) {
        let pieces = self.pieces(cost, count, unit);
        if pieces <= 1 {
            return work(0..count);
        }
        let len = piece_len(count, unit, pieces);
        self.ranges(self.splits_now(cost), count, len, &work);
    }

    /// Splits `out` at multiples of `unit` elements, and calls `work` with the first index of each piece and the piece;
    /// on several threads if the total `cost` is worth it. If pieces fail, the call fails with the first error.
    pub fn for_chunks<T: Pod + Send, R: Outcome>(
        &self,
        cost: Cost,
        out: &mut [T],
        unit: usize,
        work: impl Fn(usize, &mut [T]) -> R + Send + Sync,
    ) -> R {
        let pieces = self.pieces(cost, out.len(), unit);
        if pieces <= 1 {
            return work(0, out);
        }
        let len = piece_len(out.len(), unit, pieces);
        self.chunked(self.splits_now(cost), out, len, work)
    }

    /// Splits `out` into chunks of `len` elements, and calls `work` with the first index of each chunk and the chunk.
    /// Several threads do, except [alone](Pool::alone). If chunks fail, the call fails with the first error.
    pub(crate) fn split_chunks<T: Pod + Send, R: Outcome>(
        &self,
        out: &mut [T],
        len: usize,
        work: impl Fn(usize, &mut [T]) -> R + Send + Sync,
    ) -> R {
        self.chunked(!ALONE.get(), out, len, work)
    }

    fn chunked<T: Pod + Send, R: Outcome>(
        &self,
        splits: bool,
        out: &mut [T],
        len: usize,
        work: impl Fn(usize, &mut [T]) -> R + Send + Sync,
    ) -> R {
        let failure = Mutex::new(None);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(out);
        self.tasks(splits, bytes.chunks_mut(len * size_of::<T>()), &|index, chunk| {
            work(index * len, bytemuck::cast_slice_mut(chunk)).note(&failure);
        });
        R::of(failure)
    }

    /// Calls `work` with each of `tasks`; on several threads if the total `cost` is worth it. If tasks fail, the call
    /// fails with the first error.
    pub fn for_each<T: Send, R: Outcome>(&self, cost: Cost, tasks: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> R {
        let failure = Mutex::new(None);
        let work = |task| work(task).note(&failure);
        if !self.could_split(cost) || tasks.len() < 2 {
            tasks.into_iter().for_each(work);
        } else {
            self.tasks(self.splits_now(cost), tasks.into_iter(), &|_, task| work(task));
        }
        R::of(failure)
    }

    // Generic code is compiled once for each type of closure, so these functions take closures behind a pointer.

    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        self.workers().install(work);
    }

    /// Does the work on several threads if it `splits`, otherwise on this one in the same pieces.
    fn ranges(&self, splits: bool, count: usize, len: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
        let (pieces, run) = (count.div_ceil(len), |piece: usize| work(piece * len..((piece + 1) * len).min(count)));
        if !splits {
            (0..pieces).for_each(run);
            return self.last.store(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
        // Threads inherit the environment of the thread that happens to start them.
        let helpers = self.helpers.get_or_init(|| Helpers::new(self.threads - 1, set_default_environment));
        let Timing { piece, wait } = helpers.run(pieces, &run);
        self.contention.note(wait, 2 * piece);
    }

    /// Calls `work` with the index of each task and the task.
    fn tasks<T: Send>(&self, splits: bool, tasks: impl Iterator<Item = T>, work: &(dyn Fn(usize, T) + Sync)) {
        let tasks: Vec<Mutex<Option<T>>> = tasks.map(|task| Mutex::new(Some(task))).collect();
        self.ranges(splits, tasks.len(), 1, &|range| {
            for index in range {
                let task = tasks[index].lock().take();
                work(index, task.expect("each task is taken once"));
            }
        });
    }

    /// The number of pieces to make: a few for each thread, so that one late thread does not delay all. They are the
    /// same at all times.
    fn pieces(&self, cost: Cost, count: usize, unit: usize) -> usize {
        if !self.could_split(cost) {
            return 1;
        }
        let worth = (cost.nanos() / PIECE_NANOS) as usize;
        worth.min(self.threads * 8).min(count / unit.max(1)).max(1)
    }
}

/// The length of each piece except the last, a multiple of `unit`.
fn piece_len(count: usize, unit: usize, pieces: usize) -> usize {
    count.div_ceil(pieces).next_multiple_of(unit.max(1))
}
