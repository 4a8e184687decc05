//! Threads that help callers with their work.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use super::placement::{self, Allowed};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, spins_until, thread};

/// The threads that help callers. Each of them starts with `start`, and ends when all of this is dropped.
pub(crate) struct Helpers {
    shared: Arc<Shared>,
    count: usize,
}

impl fmt::Debug for Helpers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helpers").field("count", &self.count).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The number of times that work was published: idle helpers watch it without the lock.
    published: AtomicUsize,
    /// The number of helpers that sleep, less those that are about to wake. It changes only while the state is locked.
    asleep: AtomicUsize,
    /// Work was published, and a helper is to wake.
    arrived: Condvar,
    /// The last helper has left a work whose caller waits.
    left: Condvar,
}

#[derive(Default)]
struct State {
    /// The work of all callers that still take pieces.
    works: Vec<Arc<Work>>,
    /// Helpers that are about to wake.
    waking: usize,
    /// Callers that sleep until the last helper has left their work.
    awaiting: usize,
    closed: bool,
}

/// The work of a caller, in pieces.
struct Work {
    /// Runs a piece. The caller owns it, and returns only when no helper can call it.
    run: &'static (dyn Fn(usize) + Sync),
    /// The parts of the pieces. A thread begins with the part of its own, so that it tends to have the same memory in
    /// its caches in the next work.
    parts: Box<[Part]>,
    /// The processor of the caller.
    processor: Option<usize>,
    /// The number of helpers that may call `run`. It changes only while the state is locked.
    helpers: AtomicUsize,
    /// The payload of the first panic.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Adjacent pieces, counted in a cache line of their own: threads whose counters share a line wait for each other.
#[repr(align(128))]
struct Part {
    /// The next piece, or one from `end` on.
    next: AtomicUsize,
    end: usize,
}

impl Work {
    fn new(run: &'static (dyn Fn(usize) + Sync), pieces: usize, threads: usize) -> Work {
        let parts = threads.min(pieces).max(1);
        let begin = |part| pieces * part / parts;
        let part = |part| Part { next: AtomicUsize::new(begin(part)), end: begin(part + 1) };
        let parts = (0..parts).map(part).collect();
        let processor = placement::current();
        Work { run, parts, processor, helpers: AtomicUsize::new(0), panic: Mutex::new(None) }
    }

    /// Whether any piece is left to take.
    fn is_open(&self) -> bool {
        self.parts.iter().any(|part| part.next.load(Ordering::Relaxed) < part.end)
    }

    /// Takes a piece for the thread of this index.
    fn take(&self, thread: usize) -> Option<usize> {
        let parts = self.parts.len();
        (thread..thread + parts).map(|part| &self.parts[part % parts]).find_map(|part| {
            let piece = part.next.fetch_add(1, Ordering::Relaxed);
            (piece < part.end).then_some(piece)
        })
    }

    /// Does pieces until none is left, and returns their number.
    fn take_part(&self, thread: usize) -> u32 {
        let mut count = 0;
        while let Some(piece) = self.take(thread) {
            count += 1;
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.run)(piece))) {
                self.panic.lock().get_or_insert(payload);
            }
        }
        count
    }
}

/// The time that a caller spent on divided work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    /// The mean of its own pieces.
    pub(super) piece: Duration,
    /// From its last piece until the helpers had ended theirs.
    pub(super) wait: Duration,
}

impl Helpers {
    /// Up to `count` threads: fewer if the system refuses to start more. Each calls `start` first.
    pub(crate) fn new(count: usize, start: fn()) -> Helpers {
        let shared = Arc::new(Shared::default());
        let spawn = |index: &usize| {
            let (shared, index) = (Arc::clone(&shared), *index);
            let helper = move || {
                start();
                shared.serve(index);
            };
            thread::Builder::new().name(format!("oxcall-{index}")).spawn(helper).is_ok()
        };
        let count = (1..=count).take_while(spawn).count();
        Helpers { shared, count }
    }

    /// Whether a helper is awake, or about to wake, and will see published work by itself.
    pub(crate) fn is_awake(&self) -> bool {
        self.shared.asleep.load(Ordering::Relaxed) < self.count
    }

    /// Calls `run` with each number below `pieces`, on this thread and on those that have nothing else to do. Returns
    /// how long this thread was at it.
    ///
    /// # Panics
    /// If a piece panics, after all others are done.
    pub(crate) fn run(&self, pieces: usize, run: &(dyn Fn(usize) + Sync)) -> Timing {
        // SAFETY: helpers call `run` between joining the work and leaving it. They join only what the state lists, and
        // this function returns after it has taken the work off the list and all helpers have left. In between nothing
        // unwinds: panics of pieces are caught, and taking a lock does not panic.
        let run = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(run) };
        let work = Arc::new(Work::new(run, pieces, self.count + 1));
        self.shared.publish(&work);
        let start = Instant::now();
        let count = work.take_part(0);
        let end = Instant::now();
        self.shared.withdraw(&work);
        let timing = Timing { piece: (end - start) / count.max(1), wait: end.elapsed() };
        let payload = work.panic.lock().take();
        if let Some(payload) = payload {
            resume_unwind(payload);
        }
        timing
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.published.fetch_add(1, Ordering::Relaxed);
        self.shared.arrived.notify_all();
    }
}

impl Shared {
    fn publish(&self, work: &Arc<Work>) {
        let mut state = self.state.lock();
        state.works.push(Arc::clone(work));
        self.published.fetch_add(1, Ordering::Relaxed);
        self.wake(1, state);
    }

    /// Unlocks the state, and wakes up to `most` helpers that sleep.
    fn wake(&self, most: usize, mut state: MutexGuard<'_, State>) {
        let helpers = self.asleep.load(Ordering::Relaxed).min(most);
        self.asleep.fetch_sub(helpers, Ordering::Relaxed);
        state.waking += helpers;
        drop(state);
        (0..helpers).for_each(|_| self.arrived.notify_one());
    }

    /// Lets no more helpers join, and waits for those that have.
    fn withdraw(&self, work: &Arc<Work>) {
        let mut state = self.state.lock();
        state.works.retain(|each| !Arc::ptr_eq(each, work));
        drop(state);
        // The pieces of helpers are as short as those of the caller, so they end soon.
        if !spins_until(|| work.helpers.load(Ordering::Acquire) == 0) {
            let mut state = self.state.lock();
            state.awaiting += 1;
            while work.helpers.load(Ordering::Acquire) > 0 {
                state = self.left.wait(state);
            }
            state.awaiting -= 1;
        }
    }

    /// The loop of a helper.
    fn serve(&self, thread: usize) {
        let mut allowed = Allowed::new();
        let mut state = self.state.lock();
        loop {
            if let Some(work) = state.join() {
                // Each helper wakes two more, so that all are awake soon, and the caller has to wake only one.
                self.wake(if work.is_open() { 2 } else { 0 }, state);
                if let (Some(allowed), Some(processor)) = (&mut allowed, work.processor)
                    && placement::current() == Some(processor)
                {
                    // Linux takes the idle processors of a virtual machine for busy, and wakes a thread on that of the
                    // thread that wakes it, where one of the two waits for the other.
                    allowed.leave(processor);
                }
                work.take_part(thread);
                state = self.state.lock();
                if work.helpers.fetch_sub(1, Ordering::Release) == 1 && state.awaiting > 0 {
                    self.left.notify_all();
                }
                continue;
            }
            if state.closed {
                return;
            }
            let seen = self.published.load(Ordering::Relaxed);
            drop(state);
            // More work comes soon, as a rule, and to wake a thread takes long.
            spins_until(|| self.published.load(Ordering::Relaxed) != seen);
            state = self.state.lock();
            if self.published.load(Ordering::Relaxed) != seen {
                continue;
            }
            self.asleep.fetch_add(1, Ordering::Relaxed);
            while state.waking == 0 && !state.closed {
                state = self.arrived.wait(state);
            }
            state.waking = state.waking.saturating_sub(1);
        }
    }
}

impl State {
    /// Joins the work with the fewest helpers, if any has pieces left.
    fn join(&self) -> Option<Arc<Work>> {
        let helpers = |work: &&Arc<Work>| work.helpers.load(Ordering::Relaxed);
        let work = self.works.iter().filter(|work| work.is_open()).min_by_key(helpers)?;
        work.helpers.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(work))
    }
}
