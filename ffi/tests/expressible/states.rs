//! States that stages leave for later ones.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};

use oxcall::descriptor::Stage;
use oxcall::host::HostVersion;
use oxcall::prelude::*;
use oxcall::sync::{Mutex, MutexGuard};
use oxcall::testing::{Call, call};

use super::{error, says};

/// A state that counts how many of its kind live.
struct Counted(&'static AtomicI64, u64);

impl Counted {
    fn new(live: &'static AtomicI64, value: u64) -> Counted {
        live.fetch_add(1, Relaxed);
        Counted(live, value)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Relaxed);
        assert!(before > 0, "dropped twice");
    }
}

static INSTANTIATED: AtomicI64 = AtomicI64::new(0);

struct Counter {
    _counted: Counted,
    value: AtomicU64,
}

#[stage(instantiate)]
fn start(#[attr(default = 0)] from: u64) -> Result<Counter> {
    if from > 1000 {
        return Err(Error::out_of_range("attribute `from` is above 1000"));
    }
    Ok(Counter { _counted: Counted::new(&INSTANTIATED, from), value: AtomicU64::new(from) })
}

#[custom_call(instantiate = start)]
fn count(#[state] counter: &Counter, #[attr(default = 1)] step: u64, mut y: ScalarOut<u64>) -> Result<()> {
    if step == 0 {
        return Err(Error::invalid_argument("no step"));
    }
    y.set(counter.value.fetch_add(step, Relaxed) + step);
    Ok(())
}

/// Tests of `count` count the same states.
static COUNTING: Mutex<()> = Mutex::new(());

fn alone(tests: &'static Mutex<()>) -> MutexGuard<'static, ()> {
    // A failed test of the group says what is wrong; the others need not.
    tests.lock()
}

#[test]
fn instantiate_runs_once_and_its_state_lives_as_long_as_the_program() {
    let _guard = alone(&COUNTING);
    for &version in super::HOSTS {
        let live = INSTANTIATED.load(Relaxed);
        let instance = call::<count>().attr("from", 10).attr("step", 2).host(version).instance().unwrap();
        assert_eq!(INSTANTIATED.load(Relaxed), live + 1);
        for expected in [12, 14, 16] {
            assert_eq!(instance.run([0f32; 0]).unwrap().get::<u64>(0)[[]], expected, "{version:?}");
        }
        drop(instance);
        assert_eq!(INSTANTIATED.load(Relaxed), live, "{version:?}");
    }
    says(call::<count>().attr("from", 1001), &["count (instantiate stage): attribute `from` is above 1000"]);
    says(call::<count>().attr("from", -1), &["count (instantiate stage): attribute `from`", "out of range"]);
    says(call::<count>().attr("form", 1), &["no attribute `form`; did you mean `from`?"]);
    assert_eq!(INSTANTIATED.load(Relaxed), 0);
    let instance = call::<count>().attr("step", 0).instance().unwrap();
    assert_eq!(instance.run([0f32; 0]).unwrap_err().message(), "count: no step");
    drop(instance);
    assert_eq!(INSTANTIATED.load(Relaxed), 0);
}

static LIVE: AtomicI64 = AtomicI64::new(0);
static MADE: AtomicU64 = AtomicU64::new(0);

struct A(Counted);
struct B(Counted);
struct C(Counted);

fn made(value: u64) -> Counted {
    MADE.fetch_add(1, Relaxed);
    Counted::new(&LIVE, value)
}

#[stage(instantiate)]
fn make_a(#[attr] k: u64) -> A {
    A(made(k))
}

#[stage(prepare)]
fn make_b(#[state] a: &A, #[attr] fail_in: Option<&str>) -> Result<B> {
    if fail_in == Some("prepare") {
        return Err(Error::resource_exhausted("no room"));
    }
    Ok(B(made(a.0.1 * 10)))
}

#[stage(initialize)]
fn make_c(#[state] a: &A, #[state(prepare)] b: &B, #[attr] fail_in: Option<&str>) -> Result<C> {
    if fail_in == Some("initialize") {
        return Err(Error::unavailable("not now"));
    }
    Ok(C(made(a.0.1 + b.0.1)))
}

#[custom_call(instantiate = make_a, prepare = make_b, initialize = make_c)]
fn staged(
    #[state] a: &A,
    #[state(prepare)] b: &B,
    #[state(initialize)] c: &C,
    #[attr] fail_in: Option<&str>,
    mut y: ScalarOut<u64>,
) -> Result<()> {
    y.set(a.0.1 * 1_000_000 + b.0.1 * 1000 + c.0.1);
    if fail_in == Some("execute") { Err(Error::data_loss("lost")) } else { Ok(()) }
}

/// Tests of `staged` count the same states.
static STAGED: Mutex<()> = Mutex::new(());

#[test]
fn every_stage_leaves_a_state_that_later_ones_borrow() {
    let _guard = alone(&STAGED);
    for &version in super::HOSTS {
        let instance = call::<staged>().attr("k", 3).host(version).instance().unwrap();
        assert_eq!(LIVE.load(Relaxed), 1);
        let made = MADE.load(Relaxed);
        let result = instance.run([0f32; 0]);
        if version >= HostVersion::V0_9_2 {
            assert_eq!(result.unwrap().get::<u64>(0)[[]], 3_030_033, "{version:?}");
            assert_eq!(MADE.load(Relaxed), made + 2);
            instance.run([0f32; 0]).unwrap();
        } else {
            let error = result.unwrap_err();
            assert_eq!(error.code(), Code::Unimplemented, "{version:?}: {error}");
            let text = "staged (prepare stage): this host (XLA FFI API 0.";
            assert!(error.message().starts_with(text) && error.message().contains("instantiate stage only"), "{error}");
        }
        // The states of an execution end with it.
        assert_eq!(LIVE.load(Relaxed), 1, "{version:?}");
        drop(instance);
        assert_eq!(LIVE.load(Relaxed), 0, "{version:?}");
    }
}

#[test]
fn states_are_dropped_when_a_stage_fails() {
    let _guard = alone(&STAGED);
    let go = |stage: &str| error(call::<staged>().attr("k", 3).attr("fail_in", stage));
    for (stage, code, message) in [
        ("prepare", Code::ResourceExhausted, "staged (prepare stage): no room"),
        ("initialize", Code::Unavailable, "staged (initialize stage): not now"),
        ("execute", Code::DataLoss, "staged: lost"),
    ] {
        let error = go(stage);
        assert_eq!((error.code(), error.message()), (code, message));
        assert_eq!(LIVE.load(Relaxed), 0, "{stage}");
    }
}

#[test]
fn xla_cpu_never_prepares_or_initializes() {
    let _guard = alone(&STAGED);
    for &version in super::HOSTS {
        let message = says(call::<staged>().attr("k", 3).host(version).cpu_stages(), &["staged: parameter `b`"]);
        if version >= HostVersion::V0_9_2 {
            assert!(message.contains("from the prepare stage (XLA:CPU runs only the instantiate and execute stages)"));
        } else {
            assert!(message.contains("keeps the state of the instantiate stage only"), "{message}");
        }
        let skipped = call::<count>().host(version).skip_stage(Stage::Instantiate);
        says(skipped, &["count: parameter `counter`", "the host did not run the instantiate stage"]);
    }
    assert_eq!(LIVE.load(Relaxed), 0);
}

/// A state without anything in it, and two operations that share its stage.
struct Empty;

#[stage(instantiate)]
fn empty() -> Empty {
    Empty
}

#[custom_call(instantiate = empty)]
fn one(#[state] state: &Empty, mut y: ScalarOut<u8>) {
    let Empty = state;
    y.set(1);
}

#[custom_call(instantiate = empty)]
fn two(#[state] state: &Empty, mut y: ScalarOut<u8>) {
    let Empty = state;
    y.set(2);
}

/// A stage whose earlier state is of another type than the operation's.
struct Other;

#[stage(instantiate)]
fn other() -> Other {
    Other
}

#[stage(initialize)]
fn wants_a(#[state] a: &A) -> C {
    C(made(a.0.1))
}

#[custom_call(instantiate = other, initialize = wants_a)]
fn mixed_up(#[state(initialize)] c: &C, mut y: ScalarOut<u8>) {
    y.set(c.0.1 as u8);
}

#[custom_call(initialize = wants_a)]
fn without_a(#[state(initialize)] c: &C, mut y: ScalarOut<u8>) {
    y.set(c.0.1 as u8);
}

#[test]
fn states_of_no_size_and_of_the_wrong_type() {
    let get = |call: Call| call.run().unwrap().get::<u8>(0)[[]];
    assert_eq!((get(call::<one>()), get(call::<two>())), (1, 2));
    says(call::<mixed_up>(), &["mixed_up (initialize stage): parameter `a`", "a state of a type other than", "A"]);
    says(
        call::<without_a>(),
        &["without_a (initialize stage): parameter `a`", "no stage of the operation makes this state"],
    );
}

#[test]
fn one_state_serves_many_threads() {
    let _guard = alone(&COUNTING);
    let (threads, runs) = if cfg!(miri) { (3, 10) } else { (16, 500) };
    let instance = call::<count>().instance().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..runs).for_each(|_| drop(instance.run([0f32; 0]).unwrap())));
        }
    });
    assert_eq!(instance.run([0f32; 0]).unwrap().get::<u64>(0)[[]], threads * runs + 1);
}
