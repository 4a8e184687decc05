use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::{Code, Error, Event};

#[test]
fn many_wait_for_one() {
    let (promise, event) = Event::pending();
    let calls = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        let calls = calls.clone();
        event.on_ready(move |outcome| {
            assert_eq!(outcome.unwrap_err().message(), "broken");
            calls.fetch_add(1, Ordering::SeqCst);
        });
    }
    let waiters: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn({
                let event = event.clone();
                move || event.wait()
            })
        })
        .collect();
    assert!(!event.is_ready() && event.outcome().is_none());
    promise.complete(Err(Error::data_loss("broken")));
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap().unwrap_err().code(), Code::DataLoss);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    assert!(event.is_ready());
}

#[test]
fn a_dropped_promise_is_an_error() {
    let (promise, event) = Event::pending();
    drop(promise);
    assert_eq!(event.wait().unwrap_err().code(), Code::Internal);
}

#[test]
fn all_waits_for_each_and_reports_the_first_error() {
    assert!(Event::all([Event::ready(), Event::ready()]).is_ready());
    let (first, a) = Event::pending();
    let (second, b) = Event::pending();
    let both = Event::all([Event::ready(), a, b]);
    second.complete(Err(Error::aborted("second")));
    assert!(!both.is_ready());
    first.complete(Err(Error::cancelled("first")));
    assert_eq!(both.wait().unwrap_err().message(), "first");
}

/// A thread that dispatches ahead makes chains like this one.
#[test]
fn long_chains_do_not_exhaust_the_stack() {
    let (first, mut last) = Event::pending();
    let links = if cfg!(miri) { 1_000 } else { 100_000 };
    for _ in 0..links {
        let (promise, next) = Event::pending();
        last.on_ready(move |outcome| promise.complete(outcome));
        last = next;
    }
    let all = Event::all((0..links / 10).map(|_| last.clone()));
    first.complete(Ok(()));
    assert!(last.is_ready());
    all.wait().unwrap();
}

#[test]
fn callbacks_may_wait_for_what_they_complete() {
    let (first, a) = Event::pending();
    let (second, b) = Event::pending();
    let (third, c) = Event::pending();
    b.on_ready(move |outcome| third.complete(outcome));
    let (done, order) = std::sync::mpsc::channel();
    a.on_ready(move |_| {
        second.complete(Ok(()));
        done.send(c.wait()).unwrap();
    });
    first.complete(Ok(()));
    order.recv().unwrap().unwrap();
}

#[test]
fn a_panic_in_a_callback_costs_no_other_callback() {
    for _ in 0..2 {
        let (promise, event) = Event::pending();
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        event.on_ready(|_| panic!("in a callback"));
        event.on_ready(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        catch_unwind(AssertUnwindSafe(|| promise.complete(Ok(())))).unwrap_err();
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn callbacks_racing_with_completion_run_once() {
    for _ in 0..1000 {
        let (promise, event) = Event::pending();
        let calls = Arc::new(AtomicUsize::new(0));
        let completing = thread::spawn(move || promise.complete(Ok(())));
        let counted = calls.clone();
        event.on_ready(move |outcome| {
            outcome.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
        });
        completing.join().unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
}
