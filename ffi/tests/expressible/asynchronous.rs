//! Completion after the handler has returned.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use oxcall::context::FromContext;
use oxcall::host::HostVersion;
use oxcall::prelude::*;
use oxcall::testing::{Call, call};

use super::{error, says};

#[derive(AttrEnum, Clone, Copy, PartialEq)]
enum Act {
    Value,
    Error,
    Panic,
    PanicCustom,
}

/// What panics in its drop.
struct Custom;

impl Drop for Custom {
    fn drop(&mut self) {
        panic!("the payload's drop panics too");
    }
}

fn act(act: Act, x: f32, y: &mut ScalarOut<'_, f32>) -> Result<()> {
    match act {
        Act::Value => y.set(x + 1.0),
        Act::Error => return Err(Error::deadline_exceeded("too late")),
        Act::Panic => panic!("on another thread"),
        Act::PanicCustom => std::panic::panic_any(Custom),
    }
    Ok(())
}

#[custom_call]
fn spawns<'f>(
    #[attr(default = Act::Value)] how: Act,
    x: Scalar<'f, f32>,
    mut y: ScalarOut<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    let caller = thread::current().id();
    later.spawn(move || {
        assert_ne!(thread::current().id(), caller);
        act(how, *x, &mut y)
    })
}

fn check(call: impl Fn(HostVersion) -> Call, name: &str) {
    for &version in super::HOSTS {
        let call = |how: &str| call(version).attr("how", how);
        assert_eq!(call("value").run().unwrap().get::<f32>(0)[[]], 3.0);
        let late = error(call("error"));
        assert_eq!((late.code(), late.message()), (Code::DeadlineExceeded, format!("{name}: too late").as_str()));
        for (how, text) in [("panic", "on another thread"), ("panic_custom", "a payload that is not a string")] {
            let error = error(call(how));
            assert_eq!(error.code(), Code::Internal);
            assert!(error.message().starts_with(&format!("{name}: panicked at")), "{error}");
            assert!(error.message().ends_with(text), "{error}");
        }
    }
}

#[test]
fn values_errors_and_panics_of_another_thread() {
    check(|version| call::<spawns>().arg(2f32).host(version), "spawns");
}

type Job = Box<dyn FnOnce() + Send>;

#[derive(AttrEnum, Clone, Copy, PartialEq)]
enum Executor {
    Now,
    Later,
    Drops,
    Panics,
}

#[custom_call]
fn executes<'f>(
    #[attr(default = Act::Value)] how: Act,
    #[attr(default = Executor::Later)] executor: Executor,
    x: Scalar<'f, f32>,
    mut y: ScalarOut<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    later.spawn_with(
        move || act(how, *x, &mut y),
        |job: Job| match executor {
            Executor::Now => job(),
            Executor::Later => drop(thread::spawn(|| {
                thread::sleep(Duration::from_millis(2));
                job();
            })),
            Executor::Drops => drop(job),
            Executor::Panics => panic!("the executor panics"),
        },
    )
}

#[test]
fn any_executor() {
    check(|version| call::<executes>().arg(2f32).host(version), "executes");
    check(|version| call::<executes>().arg(2f32).host(version).attr("executor", "now"), "executes");
    let dropped = error(call::<executes>().arg(2f32).attr("executor", "drops"));
    assert_eq!(dropped.code(), Code::Aborted);
    assert!(dropped.message().starts_with("executes: the promise was dropped"), "{dropped}");
    says(call::<executes>().arg(2f32).attr("executor", "panics"), &["executes: panicked at", "the executor panics"]);
}

#[derive(AttrEnum, Clone, Copy)]
enum Promised {
    Kept,
    Refused,
    Dropped,
    DroppedLater,
}

#[custom_call]
fn promises<'f>(#[attr] how: Promised, y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    let _ = y;
    let (promise, future) = later.promise()?;
    match how {
        Promised::Kept => promise.set(Ok(())),
        Promised::Refused => promise.set(Err(Error::cancelled("refused"))),
        Promised::Dropped => drop(promise),
        Promised::DroppedLater => drop(thread::spawn(move || {
            thread::sleep(Duration::from_millis(2));
            drop(promise);
        })),
    }
    Ok(future)
}

#[test]
fn promises_are_kept_or_the_call_fails() {
    for &version in super::HOSTS {
        let go = |how: &str| call::<promises>().attr("how", how).host(version);
        go("kept").run().unwrap();
        assert_eq!(error(go("refused")).message(), "promises: refused");
        for how in ["dropped", "dropped_later"] {
            let error = error(go(how));
            assert_eq!(error.code(), Code::Aborted);
            assert!(error.message().contains("the promise was dropped before it was completed"), "{error}");
        }
    }
}

static RUNNING: AtomicBool = AtomicBool::new(false);

/// Fails, or panics, after its work has begun: the work uses the call's buffers, so the handler must wait.
#[custom_call]
fn fails_after_spawn<'f>(
    #[attr] panics: bool,
    x: Array<'f, f32>,
    mut y: Out<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    RUNNING.store(true, SeqCst);
    let future = later.spawn(move || {
        thread::sleep(Duration::from_millis(20));
        y.copy_from_slice(&x);
        RUNNING.store(false, SeqCst);
        Ok(())
    })?;
    drop(future);
    if panics {
        panic!("after spawn");
    }
    Err(Error::internal("after spawn"))
}

#[test]
fn a_handler_that_fails_after_it_has_spawned_waits() {
    for panics in [false, true] {
        says(call::<fails_after_spawn>().arg([1f32, 2.0]).attr("panics", panics), &["after spawn"]);
        assert!(!RUNNING.load(SeqCst));
    }
}

/// Work that is told to go on only after the handler has returned.
static GATES: Mutex<Vec<mpsc::Sender<()>>> = Mutex::new(Vec::new());

#[custom_call]
fn gated<'f>(
    #[dims(n, m)] x: Array<'f, f32>,
    #[dims(m, n)] mut y: Out<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    let (sender, receiver) = mpsc::channel();
    GATES.lock().unwrap().push(sender);
    later.spawn(move || {
        receiver.recv().map_err(|_| Error::internal("the gate is gone"))?;
        // Shapes must still be there, wherever the host had them.
        assert_eq!((x.shape(), y.shape()), (&[2usize, 3][..], &[3usize, 2][..]));
        y.view_mut().assign(&x.view().t());
        Ok(())
    })
}

#[test]
fn buffers_and_shapes_outlive_the_call_frame() {
    use oxcall::descriptor::{Op, Stage};
    use oxcall::host;

    let (x, mut y) = ([1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [0f32; 6]);
    let mut frame = super::host::Frame::default().arg(x.as_ptr(), &[2, 3]).ret(y.as_mut_ptr(), &[3, 2]).build();
    let context = super::host::bare();
    // SAFETY: the buffers are there until the future is complete.
    let future = unsafe { host::call(gated::HANDLER.execute, &mut frame, &context, Stage::Execute) }.unwrap().unwrap();
    drop((frame, context));
    assert!(!future.is_ready());
    GATES.lock().unwrap().pop().unwrap().send(()).unwrap();
    future.wait().unwrap();
    assert_eq!(y, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

/// A second promise would be one that the host does not wait for.
#[custom_call]
fn two_promises<'f>(x: Array<'f, f32>, mut y: Out<'f, f32>, a: Async<'f>, ctx: Context<'f>) -> Result<Future<'f>> {
    let future = a.spawn(move || {
        y.copy_from_slice(&x);
        Ok(())
    })?;
    let second = ctx.get::<Async>()?.spawn(move || {
        assert_eq!(x.len(), 1);
        Ok(())
    });
    assert!(second.is_err_and(|error| error.message().contains("already has a promise")));
    Ok(future)
}

#[test]
fn a_call_completes_once() {
    assert_eq!(call::<two_promises>().arg([1f32]).run().unwrap().get::<f32>(0)[[0]], 1.0);
}

/// A context of the user's own with an [`Async`] inside.
struct Mine<'f>(Async<'f>);

impl<'f> FromContext<'f> for Mine<'f> {
    fn from_context(context: &Context<'f>) -> Result<Self> {
        context.get().map(Mine)
    }
}

static MINE_ENDED: AtomicU32 = AtomicU32::new(0);

#[custom_call]
fn own_context<'f>(#[attr] future: bool, x: Array<'f, f32>, mut y: Out<'f, f32>, #[ctx] mine: Mine<'f>) -> Result<()> {
    let _future = mine.0.spawn(move || {
        thread::sleep(Duration::from_millis(5));
        y.copy_from_slice(&x);
        MINE_ENDED.fetch_add(1, SeqCst);
        Ok(())
    })?;
    if future { Ok(()) } else { Err(Error::internal("no")) }
}

#[test]
fn a_context_of_the_users_own_may_complete_later() {
    let outputs = call::<own_context>().arg([7f32]).attr("future", true).run().unwrap();
    assert_eq!((outputs.get::<f32>(0)[[0]], MINE_ENDED.load(SeqCst)), (7.0, 1));
    error(call::<own_context>().arg([7f32]).attr("future", false));
    assert_eq!(MINE_ENDED.load(SeqCst), 2);
}

struct Nothing;

#[stage(instantiate)]
fn too_early(context: Context) -> Result<Nothing> {
    let _future = context.get::<Async>()?.spawn(|| Ok(()))?;
    Ok(Nothing)
}

#[custom_call(instantiate = too_early)]
fn too_early_op(mut y: ScalarOut<f32>) {
    y.set(0.0);
}

#[test]
fn stages_before_execute_and_bare_contexts_complete_at_once() {
    says(call::<bare_context>(), &["bare_context: only a `#[custom_call]` function with a parameter of type `Async`"]);
    says(
        call::<too_early_op>(),
        &[
            "too_early_op (instantiate stage): ",
            "only a `#[custom_call]` function with a parameter of type `Async` can complete later",
        ],
    );
}

#[custom_call]
fn bare_context(context: Context, mut y: ScalarOut<f32>) -> Result<()> {
    y.set(0.0);
    context.get::<Async>()?.promise().map(|_| ())
}

/// Captured values are dropped, once, before the call completes.
struct Captured(Arc<AtomicU32>);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        if thread::panicking() {
            return;
        }
        panic!("a captured value's drop panics");
    }
}

static CAPTURED: Mutex<Option<Arc<AtomicU32>>> = Mutex::new(None);

#[custom_call]
fn captures<'f>(mut y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    let dropped = Arc::new(AtomicU32::new(0));
    *CAPTURED.lock().unwrap() = Some(Arc::clone(&dropped));
    let captured = Captured(dropped);
    later.spawn_with(
        move || {
            let _captured = &captured;
            y.set(1.0);
            Ok(())
        },
        drop,
    )
}

#[test]
fn a_drop_that_panics_in_an_abandoned_job_is_contained() {
    assert_eq!(error(call::<captures>()).code(), Code::Aborted);
    assert_eq!(CAPTURED.lock().unwrap().take().unwrap().load(SeqCst), 1);
}
