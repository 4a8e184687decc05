//! The threads for executions, and those that help callers, under shuttle: they run in many random orders, switching
//! at each use of a lock or a condition variable. An order that leaves a thread waiting for ever is a deadlock, which
//! fails the test.

use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::sync::Barrier;
use shuttle::{check_pct, check_random};

#[allow(dead_code, unreachable_pub, reason = "a part of a crate, compiled as a part of this one")]
#[path = "../src/runtime/threads.rs"]
mod threads;

#[allow(dead_code, unreachable_pub, reason = "a part of a crate, compiled as a part of this one")]
#[path = "../src/pool/helpers.rs"]
mod helpers;

/// No thread is told its processor here.
mod placement {
    pub(crate) fn current() -> Option<usize> {
        None
    }

    pub(crate) struct Allowed;

    impl Allowed {
        pub(crate) fn new() -> Option<Allowed> {
            None
        }

        pub(crate) fn leave(&mut self, _: usize) {}
    }
}

/// What the threads are synchronised with here.
mod sync {
    use std::time::Duration;

    use shuttle::sync;
    pub(crate) use shuttle::sync::{Arc, MutexGuard, atomic};
    pub(crate) use shuttle::thread;

    /// Looks a few times, since other threads run only when this one gives way to them.
    pub(crate) fn spins_until(is_so: impl Fn() -> bool) -> bool {
        (0..2).any(|_| {
            thread::yield_now();
            is_so()
        })
    }

    #[derive(Default)]
    pub(crate) struct Mutex<T>(sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap()
        }
    }

    #[derive(Default)]
    pub(crate) struct Condvar(sync::Condvar);

    impl Condvar {
        pub(crate) fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
            self.0.wait(guard).unwrap()
        }

        pub(crate) fn wait_timeout<'g, T>(
            &self,
            guard: MutexGuard<'g, T>,
            time: Duration,
        ) -> (MutexGuard<'g, T>, bool) {
            let (guard, waited) = self.0.wait_timeout(guard, time).unwrap();
            (guard, waited.timed_out())
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

use helpers::Helpers;
use sync::{Arc, thread};
use threads::Threads;

/// Runs `test` in orders that are random, and in such that find bugs which need few switches at certain places.
fn in_many_orders(test: impl Fn() + Send + Sync + Copy + 'static) {
    check_random(test, 1_000);
    check_pct(test, 500, 3);
}

/// Jobs of several threads, each of which ends only when all have begun: no job waits for a thread that another one
/// has.
#[test]
fn every_job_has_a_thread() {
    in_many_orders(|| {
        let threads = Arc::new(Threads::new());
        for _ in 0..2 {
            let (barrier, done) = (Arc::new(Barrier::new(4)), Arc::new(Barrier::new(4)));
            let spawn = |threads: &Threads| {
                let (barrier, done) = (barrier.clone(), done.clone());
                let job = Box::new(move || {
                    barrier.wait();
                    done.wait();
                });
                assert!(threads.spawn(job).is_none());
            };
            spawn(&threads);
            spawn(&threads);
            let (theirs, job) = (threads.clone(), (barrier.clone(), done.clone()));
            let other = thread::spawn(move || {
                let (barrier, done) = job;
                let job = Box::new(move || {
                    barrier.wait();
                    done.wait();
                });
                assert!(theirs.spawn(job).is_none());
            });
            barrier.wait();
            done.wait();
            other.join().unwrap();
        }
        let (_, started) = threads.count();
        assert!((3..=6).contains(&started), "{started}");
    });
}

/// What was spawned is done, and then the threads end: shuttle reports those that are left.
#[test]
fn jobs_are_done_and_threads_end() {
    in_many_orders(|| {
        let (threads, count) = (Threads::new(), Arc::new(AtomicUsize::new(0)));
        let all = Arc::new(Barrier::new(3));
        for _ in 0..2 {
            let (count, all) = (count.clone(), all.clone());
            let job = Box::new(move || {
                count.fetch_add(1, Ordering::SeqCst);
                all.wait();
            });
            assert!(threads.spawn(job).is_none());
        }
        all.wait();
        assert_eq!(count.load(Ordering::SeqCst), 2);
    });
}

/// Two callers, one with work in work: each piece is done once before its caller goes on, and the helpers end.
#[test]
fn pieces_are_done_before_the_caller_goes_on() {
    in_many_orders(|| {
        let helpers = Arc::new(Helpers::new(2, || ()));
        let call = |helpers: &Helpers, nested: bool| {
            for pieces in [1, 3] {
                let done: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
                helpers.run(pieces, &|piece| {
                    if nested {
                        let inner = AtomicUsize::new(0);
                        helpers.run(2, &|_| {
                            inner.fetch_add(1, Ordering::SeqCst);
                        });
                        assert_eq!(inner.into_inner(), 2);
                    }
                    done[piece].fetch_add(1, Ordering::SeqCst);
                });
                assert!(done.iter().all(|done| done.load(Ordering::SeqCst) == 1));
            }
        };
        let theirs = helpers.clone();
        let other = thread::spawn(move || call(&theirs, true));
        call(&helpers, false);
        other.join().unwrap();
    });
}
