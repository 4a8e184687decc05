//! The threads for executions, under shuttle: they run in many random orders, switching at each use of a lock or a
//! condition variable. An order that leaves a thread waiting for ever is a deadlock, which fails the test.

use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::sync::Barrier;

#[allow(dead_code, unused_imports, reason = "has what tests of other threads need, too")]
#[path = "../../kernels/tests/schedules/sync.rs"]
mod sync;
#[allow(dead_code, unreachable_pub, reason = "a part of a crate, compiled as a part of this one")]
#[path = "../src/runtime/threads.rs"]
mod threads;

use sync::{Arc, in_many_orders, thread};
use threads::Threads;

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
