//! Panics, wherever they may come from: they become errors, and never end the process.

use std::panic::panic_any;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use oxcall::prelude::*;
use oxcall::testing::call;

use super::{error, says};

/// A payload that makes trouble once more when it is dropped.
struct Custom;

impl Drop for Custom {
    fn drop(&mut self) {
        panic!("the payload's drop panics too");
    }
}

#[derive(AttrEnum, Clone, Copy, PartialEq)]
enum How {
    Not,
    Str,
    String,
    Custom,
    /// A payload of another type, with an ordinary drop.
    Number,
}

impl How {
    const ALL: [(&str, &str); 4] = [
        ("str", "a literal"),
        ("string", "number 7"),
        ("custom", "a payload that is not a string"),
        ("number", "a payload that is not a string"),
    ];

    fn panic(self) {
        match self {
            How::Not => {}
            How::Str => panic!("a literal"),
            How::String => panic!("number {}", 3 + 4),
            How::Custom => panic_any(Custom),
            How::Number => panic_any(7u32),
        }
    }
}

struct Instantiated(How);
struct Prepared;
struct Initialized;

impl Drop for Instantiated {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
        self.0.panic();
    }
}

static DROPPED: AtomicU32 = AtomicU32::new(0);

#[stage(instantiate)]
fn instantiate(#[attr(default = How::Not)] instantiate: How, #[attr(default = How::Not)] drop: How) -> Instantiated {
    instantiate.panic();
    Instantiated(drop)
}

#[stage(prepare)]
fn prepare(#[attr(default = How::Not)] prepare: How) -> Prepared {
    prepare.panic();
    Prepared
}

#[stage(initialize)]
fn initialize(#[attr(default = How::Not)] initialize: How) -> Initialized {
    initialize.panic();
    Initialized
}

#[custom_call(instantiate = instantiate, prepare = prepare, initialize = initialize)]
fn panicking(#[attr(default = How::Not)] execute: How, #[state(prepare)] _p: &Prepared, mut y: ScalarOut<u8>) {
    execute.panic();
    y.set(1);
}

#[custom_call]
fn simple(#[attr] how: How, mut y: ScalarOut<u8>) {
    how.panic();
    y.set(1);
}

#[test]
fn a_panic_in_any_stage_is_an_error() {
    for stage in ["instantiate", "prepare", "initialize", "execute"] {
        for (how, text) in How::ALL {
            let error = error(call::<panicking>().attr(stage, how));
            assert_eq!(error.code(), Code::Internal);
            let message = error.message();
            assert!(message.starts_with("panicking: panicked at ") && message.contains("panics.rs:"), "{message}");
            assert!(message.ends_with(text), "{message}");
        }
    }
}

#[test]
fn a_panic_is_an_error_on_every_host() {
    for &version in super::HOSTS {
        for (how, text) in How::ALL {
            says(call::<simple>().attr("how", how).host(version), &[text]);
        }
        assert_eq!(call::<simple>().attr("how", "not").host(version).run().unwrap().get::<u8>(0)[[]], 1);
    }
}

#[test]
fn a_panic_in_a_states_drop_is_told_on_stderr_only() {
    for (how, _) in How::ALL {
        let before = DROPPED.load(Relaxed);
        let outputs = call::<panicking>().attr("drop", how).run().unwrap();
        assert_eq!(outputs.get::<u8>(0)[[]], 1);
        // Other tests may drop states meanwhile.
        assert!(DROPPED.load(Relaxed) > before);
    }
}

/// A file that no line can be written to as stderr of this test's own process.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore = "starts a process")]
fn a_broken_stderr_changes_nothing() {
    const CHILD: &str = "OXCALL_TEST_BROKEN_STDERR";
    if std::env::var_os(CHILD).is_some() {
        a_panic_in_a_states_drop_is_told_on_stderr_only();
        return;
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "panics::a_broken_stderr_changes_nothing", "--nocapture"])
        .env(CHILD, "1")
        .stdout(std::process::Stdio::null())
        .stderr(full)
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

/// What a stack unwinds through: values of the handler whose drops count.
struct OnStack<'a>(&'a AtomicU32);

impl Drop for OnStack<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

static UNWOUND: AtomicU32 = AtomicU32::new(0);

#[custom_call]
fn unwinds(#[attr] how: How, y: ScalarOut<u8>) {
    let _ = y;
    let _guard = OnStack(&UNWOUND);
    how.panic();
}

#[test]
fn a_panic_unwinds_the_handler() {
    error(call::<unwinds>().attr("how", "str"));
    assert_eq!(UNWOUND.load(Relaxed), 1);
}

fn worse() -> i64 {
    panic!("the default panics")
}

#[custom_call]
fn bad_default(#[attr(default = worse())] k: i64, mut y: ScalarOut<i64>) {
    y.set(k);
}

fn bad_shape(_: &oxcall::shape::ShapeContext<'_>) -> Result<Vec<Vec<i64>>> {
    panic!("the shape panics")
}

#[custom_call(shape = bad_shape)]
fn bad_shape_op(mut y: Out<i64>) {
    y.fill(0);
}

#[test]
fn code_in_the_signature_may_panic() {
    says(call::<bad_default>(), &["bad_default: panicked at", "the default panics"]);
    // The shape function runs for whoever asks for shapes, not in the handler.
    assert!(call::<bad_shape_op>().ret_of::<i64>(&[1]).run().is_ok());
}
