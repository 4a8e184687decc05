//! A million calls from 64 threads, with state and random errors: every one is counted, none is lost.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::thread;

use oxcall::descriptor::{Op, Stage};
use oxcall::host::{self, CallFrameBuilder, HostVersion, InvokeContext, StageState};
use oxcall::prelude::*;

const THREADS: u64 = if cfg!(miri) { 4 } else { 64 };
const CALLS: u64 = if cfg!(miri) { 8 } else { 1_000_000 / THREADS };

static LIVE: AtomicI64 = AtomicI64::new(0);

#[derive(Default)]
struct Tally {
    done: AtomicU64,
    sum: AtomicU64,
    failed: AtomicU64,
    panicked: AtomicU64,
}

impl Drop for Tally {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Relaxed);
    }
}

#[stage(instantiate)]
fn open() -> Tally {
    LIVE.fetch_add(1, Relaxed);
    Tally::default()
}

/// Fails for multiples of 8 and panics for those of 4097.
#[custom_call(T = [u32, u64], instantiate = open)]
fn tally<T: Number + Into<u64>>(#[state] tally: &Tally, x: Scalar<T>, mut y: ScalarOut<T>) -> Result<()> {
    let value: u64 = x.get().into();
    if value.is_multiple_of(4097) {
        tally.panicked.fetch_add(1, Relaxed);
        panic!("value {value}");
    }
    if value.is_multiple_of(8) {
        tally.failed.fetch_add(1, Relaxed);
        return Err(Error::out_of_range(format!("value {value}")));
    }
    tally.done.fetch_add(1, Relaxed);
    tally.sum.fetch_add(value, Relaxed);
    y.set(x.get());
    Ok(())
}

/// The results of a call of the operation that reads its own state out.
#[custom_call(instantiate = open)]
fn read_out(#[state] tally: &Tally, #[dims(4)] y: &mut [u64]) {
    let counters = [&tally.done, &tally.sum, &tally.failed, &tally.panicked];
    for (y, counter) in y.iter_mut().zip(counters) {
        *y = counter.load(Relaxed);
    }
}

/// What one thread has seen of its calls.
#[derive(Default, Debug, PartialEq)]
struct Seen {
    done: u64,
    sum: u64,
    failed: u64,
    panicked: u64,
    refused: u64,
}

fn calls(seed: u64, version: HostVersion, state: &Arc<StageState>) -> Seen {
    let context = InvokeContext::builder().version(version).state(Stage::Instantiate, Arc::clone(state)).build();
    let (mut x, mut y) = (0u64, 0u64);
    let (x_data, y_data) = (&raw mut x, &raw mut y);
    let frame = |x: DType, y: DType| {
        let mut frame = CallFrameBuilder::new();
        frame.arg(x, x_data.cast(), &[]).ret(y, y_data.cast(), &[]);
        frame.build()
    };
    let mut small = frame(DType::U32, DType::U32);
    let mut large = frame(DType::U64, DType::U64);
    let mut wrong = frame(DType::U32, DType::U64);
    let mut seen = Seen::default();
    let mut random = seed;
    for _ in 0..CALLS {
        // Knuth's MMIX generator.
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let value = (random >> 40) % 100_000;
        let frame = match random >> 61 {
            0 => &mut wrong,
            1..=3 => &mut small,
            _ => &mut large,
        };
        // SAFETY: the buffers are this thread's own, and large enough for either dtype.
        let result = unsafe {
            x_data.write(value);
            host::call(tally::HANDLER.execute, frame, &context, Stage::Execute)
        };
        // SAFETY: the call is over.
        let out = unsafe { y_data.read() };
        match result.map_err(|error| (error.code(), error.message().to_owned())) {
            Ok(_) => {
                assert_eq!(out as u32, value as u32);
                seen.done += 1;
                seen.sum += value;
            }
            Err((Code::OutOfRange, message)) => {
                assert_eq!(message, format!("tally: value {value}"));
                seen.failed += 1;
            }
            Err((Code::Internal, message)) => {
                assert!(message.ends_with(&format!(": value {value}")), "{message}");
                seen.panicked += 1;
            }
            Err((code, message)) => {
                assert_eq!(code, Code::InvalidArgument, "{message}");
                seen.refused += 1;
            }
        }
    }
    seen
}

#[test]
fn a_million_calls_from_64_threads() {
    let state = Arc::new(StageState::new());
    let context = InvokeContext::builder().state(Stage::Instantiate, Arc::clone(&state)).build();
    let mut frame = CallFrameBuilder::new().build();
    // SAFETY: the stage's handler; it looks at nothing but the context.
    unsafe { host::call(tally::HANDLER.stages[0].handler, &mut frame, &context, Stage::Instantiate) }.unwrap();
    assert_eq!(LIVE.load(Relaxed), 1);
    // A panic's message costs a thousand times its call.
    std::panic::set_hook(Box::new(|_| ()));
    let versions = [HostVersion::V0_6, HostVersion::V0_9_2, HostVersion::V0_12];
    let mut all = Seen::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|index| {
                let (state, version) = (&state, versions[index as usize % versions.len()]);
                scope.spawn(move || calls(index, version, state))
            })
            .collect();
        for thread in threads {
            let seen = thread.join().unwrap();
            all.done += seen.done;
            all.sum += seen.sum;
            all.failed += seen.failed;
            all.panicked += seen.panicked;
            all.refused += seen.refused;
        }
    });
    drop(std::panic::take_hook());
    let mut counted = [0u64; 4];
    let mut frame = CallFrameBuilder::new();
    frame.ret(DType::U64, counted.as_mut_ptr().cast(), &[4]);
    // SAFETY: the result has four elements.
    unsafe { host::call(read_out::HANDLER.execute, &mut frame.build(), &context, Stage::Execute) }.unwrap();
    assert_eq!(counted, [all.done, all.sum, all.failed, all.panicked]);
    assert_eq!(all.done + all.failed + all.panicked + all.refused, THREADS * CALLS);
    assert!(cfg!(miri) || [all.done, all.failed, all.panicked, all.refused].iter().all(|count| *count > 0), "{all:?}");
    drop((context, state));
    assert_eq!(LIVE.load(Relaxed), 0);
}
