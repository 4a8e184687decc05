//! Tests of the division of work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Costs that are worth no other thread, one that is awake, and one that sleeps.
const COSTS: [f64; 3] = [0.0, 2.0 * WORTH_SPLITTING_NANOS, 2.0 * WORTH_WAKING_NANOS];

/// Fewer under Miri, which is slow.
const ROUNDS: usize = if cfg!(miri) { 1 } else { 20 };

fn cost(nanos: f64) -> Cost {
    Cost { flops: 8.0 * nanos, bytes: 0.0 }
}

#[test]
fn each_index_is_in_one_range() {
    for threads in [1, 2, 3, 8] {
        let pool = Pool::new(threads);
        for (count, unit) in [(0, 1), (1, 1), (7, 1), (100, 1), (100, 64), (1000, 3), (4096, 16)] {
            for nanos in COSTS.into_iter().cycle().take(3 + ROUNDS / 2) {
                let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                pool.for_ranges(cost(nanos), count, unit, |range| {
                    assert!(range.start.is_multiple_of(unit) && (range.end == count || range.end.is_multiple_of(unit)));
                    for seen in &seen[range] {
                        seen.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1), "{threads} {count} {unit} {nanos}");
            }
        }
    }
}

#[test]
fn each_chunk_is_told_its_place() {
    for threads in [1, 2, 5] {
        let pool = Pool::new(threads);
        for nanos in COSTS {
            let mut out = vec![0_u32; 1001];
            pool.for_chunks(cost(nanos), &mut out, 10, |first, chunk| {
                chunk.iter_mut().zip(first..).for_each(|(out, index)| *out += index as u32);
            });
            assert!(out.iter().zip(0..).all(|(&out, index)| out == index));
        }
    }
}

/// Work within work, of several callers at once, on fewer threads than there are callers.
#[test]
fn callers_nest_and_share_the_threads() {
    let (pool, sum) = (Pool::new(3), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    pool.for_ranges(cost(1e6), 6, 1, |outer| {
                        pool.for_ranges(cost(1e6), 10, 1, |inner| {
                            sum.fetch_add(outer.len() * inner.len(), Ordering::Relaxed);
                        });
                    });
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 4 * ROUNDS * 6 * 10);
}

#[test]
fn a_panic_reaches_the_caller_after_the_other_pieces() {
    let pool = Pool::new(3);
    for _ in 0..10 {
        let done = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.for_each(cost(1e6), (0..20).collect(), |task: usize| {
                assert!(task != 7, "piece 7");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }));
        let payload = outcome.expect_err("a piece panicked");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"piece 7"));
        assert_eq!(done.into_inner(), 19);
    }
}

#[test]
fn the_first_error_is_the_outcome() {
    let pool = Pool::new(2);
    let mut out = [0_u8; 64];
    let outcome = pool.for_chunks(cost(1e6), &mut out, 1, |first, _| match first {
        0 => Err(Error::internal("no")),
        _ => Ok(()),
    });
    assert_eq!(outcome.expect_err("a chunk failed").message(), "no");
}

/// Small work is divided only where a thread would not have to be woken for it.
#[test]
fn small_work_is_split_in_quick_succession() {
    let pool = Pool::new(2);
    let small = cost(2.0 * WORTH_SPLITTING_NANOS);
    assert!(!pool.splits_now(small));
    assert!(pool.splits_now(cost(WORTH_WAKING_NANOS)));
    let pieces = pool.pieces(small, 100, 1);
    assert!(pieces > 1);
    pool.last.store(u64::MAX / 2, Ordering::Relaxed);
    assert!(pool.splits_now(small), "such work has just ended");
    assert!(!pool.splits_now(cost(WORTH_SPLITTING_NANOS / 2.0)));
    assert!(!pool.splits(small), "what decides on the order of sums stays the same");
    assert_eq!(pool.pieces(small, 100, 1), pieces);
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_thread_leaves_a_processor_if_it_may_run_on_another() {
    let check = || {
        let (Some(mut allowed), Some(first)) = (placement::Allowed::new(), placement::current()) else { return };
        let may_move = std::thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        allowed.leave(first);
        let second = placement::current().expect("the system has told before");
        assert!(!may_move || second != first);
        // The first one is allowed again.
        allowed.leave(second);
        assert!(!may_move || placement::current() != Some(second));
    };
    std::thread::spawn(check).join().expect("the thread leaves");
}
