//! Events under shuttle: their threads run in many random orders, switching at each use of a lock, a condition variable
//! or thread-local storage. An order that leaves a thread waiting for ever is a deadlock, which fails the test.

use std::sync::atomic::{AtomicUsize, Ordering};

use oxcall_pjrt::{Code, Error, Result};
use shuttle::{check_pct, check_random, thread};

#[allow(dead_code, unreachable_pub, reason = "a part of a crate, compiled as a part of this one")]
#[path = "../src/event/mod.rs"]
mod event;

/// What the events are synchronised with here.
mod sync {
    use shuttle::sync;
    pub(crate) use shuttle::sync::{Arc, MutexGuard};
    pub(crate) use shuttle::thread_local;

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
        pub(crate) fn new() -> Condvar {
            Condvar(sync::Condvar::new())
        }

        pub(crate) fn wait<'g, T>(&self, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
            self.0.wait(guard).unwrap()
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

use event::Event;
use sync::Arc;

/// Runs `test` in orders that are random, and in such that find bugs which need few switches at certain places.
fn in_many_orders(test: impl Fn() + Send + Sync + Copy + 'static) {
    check_random(test, 2_000);
    check_pct(test, 1_000, 3);
}

fn counter() -> Arc<AtomicUsize> {
    Arc::default()
}

#[test]
fn callbacks_that_race_with_completion_run_once() {
    in_many_orders(|| {
        let (promise, event) = Event::pending();
        let calls = counter();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (event, calls) = (event.clone(), calls.clone());
                thread::spawn(move || {
                    event.on_ready(move |outcome| {
                        outcome.unwrap();
                        calls.fetch_add(1, Ordering::SeqCst);
                    });
                })
            })
            .collect();
        promise.complete(Ok(()));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn nobody_waits_for_what_has_happened() {
    in_many_orders(|| {
        let (promise, event) = Event::pending();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let event = event.clone();
                thread::spawn(move || event.wait().unwrap_err().code())
            })
            .collect();
        promise.complete(Err(Error::cancelled("it")));
        waiting.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Code::Cancelled));
    });
}

#[test]
fn the_first_outcome_counts() {
    in_many_orders(|| {
        let (promise, event) = Event::pending();
        let (calls, counted) = (counter(), counter());
        let theirs = counted.clone();
        event.on_ready(move |_| _ = theirs.fetch_add(1, Ordering::SeqCst));
        let (other, first) = (event.clone(), calls.clone());
        let setting = thread::spawn(move || _ = first.fetch_add(usize::from(other.set(Ok(()))), Ordering::SeqCst));
        calls.fetch_add(usize::from(event.set(Ok(()))), Ordering::SeqCst);
        setting.join().unwrap();
        promise.complete(Err(Error::internal("too late")));
        event.wait().unwrap();
        assert_eq!((calls.load(Ordering::SeqCst), counted.load(Ordering::SeqCst)), (1, 1));
    });
}

#[test]
fn all_completes_once_with_the_first_error_of_the_list() {
    in_many_orders(|| {
        let (first, a) = Event::pending();
        let (second, b) = Event::pending();
        let (third, c) = Event::pending();
        let all = Event::all([a, b, c]);
        let threads = [
            thread::spawn(move || first.complete(Ok(()))),
            thread::spawn(move || second.complete(Err(Error::aborted("second")))),
            thread::spawn(move || drop(third)),
        ];
        assert_eq!(all.wait().unwrap_err().message(), "second");
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A program's end starts the next one, whose end somebody waits for inside a callback.
#[test]
fn callbacks_wait_for_what_other_threads_complete() {
    in_many_orders(|| {
        let (first, a) = Event::pending();
        let (second, b) = Event::pending();
        let (third, c) = Event::pending();
        a.on_ready(move |_| c.wait().unwrap());
        b.on_ready(move |outcome| third.complete(outcome));
        let other = thread::spawn(move || second.complete(Ok(())));
        first.complete(Ok(()));
        other.join().unwrap();
    });
}
