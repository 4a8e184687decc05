//! The threads of a client, and the division of kernels' work among them.

use std::ops::Range;
use std::sync::OnceLock;

use bytemuck::Pod;
use oxcall::Error;
use rayon::prelude::*;

use crate::environment::set_default_environment;
use crate::sync::Mutex;

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
pub(crate) trait Outcome: Sized {
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

/// Work cheaper than this runs on one thread: a handover costs about 28 microseconds, so that half of the work has to
/// take longer.
const WORTH_SPLITTING_NANOS: f64 = 60_000.0;

/// The least work of a piece: a thread takes one in about a microsecond.
const PIECE_NANOS: f64 = 8_000.0;

/// The threads of a client, started when work first needs them; none if there is only one core.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    pool: OnceLock<rayon::ThreadPool>,
}

impl Pool {
    /// A pool of `threads` threads (at least one), which are not started yet.
    pub(crate) fn new(threads: usize) -> Pool {
        Pool { threads: threads.max(1), pool: OnceLock::new() }
    }

    /// The number of threads among which work is divided.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The threads themselves, started by the first caller.
    ///
    /// # Panics
    /// If the system refuses to start threads.
    pub(crate) fn workers(&self) -> &rayon::ThreadPool {
        self.pool.get_or_init(|| {
            let name = |index| format!("oxcall-{index}");
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

    /// Whether work of `cost` is worth splitting.
    pub(crate) fn splits(&self, cost: Cost) -> bool {
        self.threads > 1 && cost.nanos() >= WORTH_SPLITTING_NANOS
    }

    /// Calls `work` with the number of threads that it may use through rayon: on this thread with 1 if `cost` is small,
    /// otherwise on a worker.
    pub(crate) fn install<R: Send>(&self, cost: Cost, work: impl FnOnce(usize) -> R + Send) -> R {
        if !self.splits(cost) {
            return work(1);
        }
        let (mut work, mut result) = (Some(work), None);
        self.run(&mut || result = work.take().map(|work| work(self.threads)));
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
        self.ranges(count, len, &work);
    }

    /// Splits `out` at multiples of `unit` elements, and calls `work` with the first index of each piece and the piece;
    /// on several threads if the total `cost` is worth it. If pieces fail, the call fails with the first error.
    pub(crate) fn for_chunks<T: Pod + Send, R: Outcome>(
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
        let size = size_of::<T>();
        let failure = Mutex::new(None);
        self.chunks(bytemuck::cast_slice_mut(out), len * size, &|offset, chunk| {
            work(offset / size, bytemuck::cast_slice_mut(chunk)).note(&failure);
        });
        R::of(failure)
    }

    /// Calls `work` with each of `tasks`; on several threads if the total `cost` is worth it.
    pub(crate) fn for_each<T: Send>(&self, cost: Cost, tasks: Vec<T>, work: impl Fn(T) + Send + Sync) {
        if !self.splits(cost) || tasks.len() < 2 {
            return tasks.into_iter().for_each(work);
        }
        let tasks: Vec<Mutex<Option<T>>> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
        self.ranges(tasks.len(), 1, &|range| {
            for task in &tasks[range] {
                let task = task.lock().take();
                task.into_iter().for_each(&work);
            }
        });
    }

    // Rayon's generic code is compiled once for each type of closure, so these functions take closures behind a
    // pointer.

    fn run(&self, work: &mut (dyn FnMut() + Send)) {
        self.workers().install(work);
    }

    fn ranges(&self, count: usize, len: usize, work: &(dyn Fn(Range<usize>) + Send + Sync)) {
        let pieces = count.div_ceil(len);
        self.run(&mut || (0..pieces).into_par_iter().for_each(|i| work(i * len..((i + 1) * len).min(count))));
    }

    fn chunks(&self, out: &mut [u8], len: usize, work: &(dyn Fn(usize, &mut [u8]) + Send + Sync)) {
        self.run(&mut || out.par_chunks_mut(len).enumerate().for_each(|(i, chunk)| work(i * len, chunk)));
    }

    /// The number of pieces to make: a few for each thread, so that one late thread does not delay all.
    fn pieces(&self, cost: Cost, count: usize, unit: usize) -> usize {
        if !self.splits(cost) {
            return 1;
        }
        let worth = (cost.nanos() / PIECE_NANOS) as usize;
        worth.min(self.threads * 4).min(count / unit.max(1)).max(1)
    }
}

/// The length of each piece except the last, a multiple of `unit`.
fn piece_len(count: usize, unit: usize, pieces: usize) -> usize {
    count.div_ceil(pieces).next_multiple_of(unit.max(1))
}
