//! Other work of the machine, which takes processors from the threads of a client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Cost;

/// A thread that is this much later than expected waits for a processor.
const LATE: Duration = Duration::from_micros(200);

/// A program of this estimated cost uses other threads in any case: as a rule, it takes longer than a thread waits for
/// its turn.
const LONG_NANOS: f64 = 3_000_000.0;

/// The time, in nanoseconds, for which callers run short programs alone: after the first late thread, and at most.
const PERIODS: [u64; 2] = [20_000_000, 1_000_000_000];

/// Whether other processes hold up the threads of a client. Callers then run short programs alone, for they would wait
/// for a thread that waits for a processor itself, often for some milliseconds.
#[derive(Debug)]
pub(super) struct Contention {
    start: Instant,
    /// Until when callers run short programs alone, in nanoseconds from `start`.
    until: AtomicU64,
    /// The length of the next such time: it doubles whenever a thread is late, and becomes shorter whenever none is.
    period: AtomicU64,
}

impl Contention {
    pub(super) fn new() -> Contention {
        Contention { start: Instant::now(), until: AtomicU64::new(0), period: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Whether callers run programs of this cost alone.
    pub(super) fn is_alone(&self, cost: Cost) -> bool {
        let until = self.until.load(Ordering::Relaxed);
        until > 0 && cost.nanos() < LONG_NANOS && self.now() < until
    }

    /// Takes note of how long the caller waited for threads, where it `expected` less.
    pub(super) fn note(&self, waited: Duration, expected: Duration) {
        let period = self.period.load(Ordering::Relaxed);
        if waited > LATE + expected {
            let period = (2 * period).clamp(PERIODS[0], PERIODS[1]);
            self.period.store(period, Ordering::Relaxed);
            self.until.store(self.now() + period, Ordering::Relaxed);
        } else if period > 0 {
            self.period.store(period - period.div_ceil(4), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Cost = Cost { flops: 1e6, bytes: 0.0 };
    const LONG: Cost = Cost { flops: 1e9, bytes: 0.0 };
    const LATE: Duration = Duration::from_millis(3);

    #[test]
    fn short_programs_run_alone_after_a_late_thread() {
        let contention = Contention::new();
        assert!(!contention.is_alone(SHORT));
        let before = contention.now();
        contention.note(LATE, Duration::ZERO);
        let until = contention.until.load(Ordering::Relaxed);
        assert!(until >= before + PERIODS[0] && !contention.is_alone(LONG));
        assert!(contention.is_alone(SHORT) || contention.now() >= until);
        contention.until.store(1, Ordering::Relaxed);
        assert!(!contention.is_alone(SHORT));
    }

    #[test]
    fn the_time_alone_doubles_and_becomes_shorter_again() {
        let contention = Contention::new();
        let period = || contention.period.load(Ordering::Relaxed);
        for expected in [20, 40, 80, 160, 320, 640, 1000, 1000] {
            contention.note(LATE, Duration::ZERO);
            assert_eq!(period(), expected * 1_000_000);
        }
        contention.note(Duration::ZERO, Duration::ZERO);
        assert_eq!(period(), 750_000_000);
        (0..100).for_each(|_| contention.note(Duration::ZERO, Duration::ZERO));
        assert_eq!(period(), 0);
    }

    #[test]
    fn threads_are_not_late_while_their_work_takes_as_long() {
        let contention = Contention::new();
        contention.note(LATE, LATE);
        assert_eq!(contention.until.load(Ordering::Relaxed), 0);
    }
}
