//! The threads that help callers, under shuttle: they run in many random orders, switching at each use of a lock or a
//! condition variable. An order that leaves a thread waiting for ever is a deadlock, which fails the test.

use std::sync::atomic::{AtomicUsize, Ordering};

#[allow(dead_code, unreachable_pub, reason = "a part of a crate, compiled as a part of this one")]
#[path = "../../src/pool/helpers.rs"]
mod helpers;
#[allow(dead_code, unused_imports, reason = "has what tests of other threads need, too")]
mod sync;

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

use helpers::Helpers;
use sync::{Arc, in_many_orders, thread};

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
