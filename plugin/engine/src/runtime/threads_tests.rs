use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use super::Threads;

#[test]
fn threads_are_used_again() {
    let threads = Threads::new();
    let (sender, receiver) = mpsc::channel();
    for round in 0..100 {
        let sender = sender.clone();
        assert!(threads.spawn(Box::new(move || sender.send(round).unwrap())).is_none());
        assert_eq!(receiver.recv().unwrap(), round);
        // The thread is free again once it has the lock.
        while threads.free() == 0 {
            thread::yield_now();
        }
    }
    assert_eq!(threads.count(), (1, 1));
}

/// Each job ends only when the last has begun.
#[test]
fn jobs_may_wait_for_each_other() {
    let (threads, count) = (Threads::new(), 20);
    let barrier = Arc::new(Barrier::new(count + 1));
    for _ in 0..3 {
        for _ in 0..count {
            let barrier = Arc::clone(&barrier);
            let wait = move || {
                barrier.wait();
            };
            assert!(threads.spawn(Box::new(wait)).is_none());
        }
        barrier.wait();
    }
    assert!(threads.count().1 <= 3 * count);
}

#[test]
fn idle_threads_end_with_their_owner() {
    let threads = Threads::new();
    // A thread that ends drops its share of the threads' state.
    let alive = threads.alive();
    assert!(threads.spawn(Box::new(|| ())).is_none());
    drop(threads);
    while alive() > 0 {
        thread::yield_now();
    }
}
