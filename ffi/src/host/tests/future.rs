use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::*;
use crate::{Code, Error};

/// A future of the frame, to be completed on any thread.
struct Promise(*mut sys::XLA_FFI_Future, HostVersion);

// SAFETY: the API allows to complete futures on any thread.
unsafe impl Send for Promise {}

impl Promise {
    unsafe fn new(frame: *mut sys::XLA_FFI_CallFrame) -> Promise {
        // SAFETY: called with a live frame.
        let api = unsafe { api_of(frame) }.0;
        let version = HostVersion::ALL.into_iter().find(|version| std::ptr::eq(version.api(), api)).unwrap();
        let mut args = sys::XLA_FFI_Future_Create_Args { struct_size: 24, ..Default::default() };
        invoke(slot(api, future_slot(version)), &mut args).unwrap();
        // SAFETY: the frame is live.
        unsafe { (*frame).future = args.future };
        Promise(args.future, version)
    }

    fn complete(self, outcome: Result<()>) {
        let (api, slot_of) = (self.1.api(), future_slot(self.1));
        match outcome {
            Ok(()) => {
                let mut args =
                    sys::XLA_FFI_Future_SetAvailable_Args { struct_size: 24, future: self.0, ..Default::default() };
                invoke(slot(api, slot_of + 1), &mut args).unwrap();
            }
            Err(error) => {
                let error = fail(error);
                let mut args =
                    sys::XLA_FFI_Future_SetError_Args { struct_size: 32, future: self.0, error, ..Default::default() };
                invoke(slot(api, slot_of + 2), &mut args).unwrap();
            }
        }
    }
}

thread_local! {
    static WORKER: std::cell::Cell<Option<JoinHandle<()>>> = const { std::cell::Cell::new(None) };
    static PROMISE: std::cell::Cell<Option<Promise>> = const { std::cell::Cell::new(None) };
}

unsafe extern "C" fn done_elsewhere(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    let promise = unsafe { Promise::new(frame) };
    WORKER.set(Some(thread::spawn(move || promise.complete(Ok(())))));
    std::ptr::null_mut()
}

unsafe extern "C" fn failed_elsewhere(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    let promise = unsafe { Promise::new(frame) };
    WORKER.set(Some(thread::spawn(move || promise.complete(Err(Error::aborted("power cut"))))));
    std::ptr::null_mut()
}

unsafe extern "C" fn left_open(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    PROMISE.set(Some(unsafe { Promise::new(frame) }));
    std::ptr::null_mut()
}

unsafe extern "C" fn fails_after_all(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: called with a live frame.
    unsafe { Promise::new(frame) }.complete(Ok(()));
    fail(Error::cancelled("changed its mind"))
}

#[test]
fn futures_are_completed_by_foreign_threads_on_every_host() {
    for version in HostVersion::ALL {
        let context = InvokeContext::builder().version(version).build();
        let future = run(done_elsewhere, &context, Stage::Execute).unwrap().expect("a future");
        assert!(future.wait().is_ok(), "{version:?}");
        assert!(future.is_ready());
        WORKER.take().unwrap().join().unwrap();
        let future = run(failed_elsewhere, &context, Stage::Execute).unwrap().expect("a future");
        for error in [future.wait().unwrap_err(), future.wait().unwrap_err()] {
            assert_eq!((error.code(), error.message()), (Code::Aborted, "power cut"));
        }
        WORKER.take().unwrap().join().unwrap();
    }
}

#[test]
fn a_future_may_be_waited_for_in_vain_and_outlived() {
    let context = InvokeContext::builder().build();
    let future = run(left_open, &context, Stage::Execute).unwrap().expect("a future");
    assert!(future.wait_timeout(Duration::from_millis(5)).is_none());
    drop(future);
    PROMISE.take().unwrap().complete(Err(Error::internal("nobody listens")));
}

#[test]
fn callbacks_hear_of_the_outcome_before_and_after() {
    let context = InvokeContext::builder().build();
    let future = run(left_open, &context, Stage::Execute).unwrap().expect("a future");
    let (sender, receiver) = mpsc::channel();
    let late = sender.clone();
    future.on_ready(move |outcome| sender.send(outcome.is_err()).unwrap());
    assert!(receiver.try_recv().is_err());
    PROMISE.take().unwrap().complete(Err(Error::internal("no")));
    assert!(receiver.recv().unwrap());
    future.on_ready(move |outcome| late.send(outcome.is_err()).unwrap());
    assert!(receiver.recv().unwrap());
}

#[test]
fn an_error_wins_over_a_future() {
    let error = run(fails_after_all, &InvokeContext::builder().build(), Stage::Execute).unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
}

#[test]
fn set_error_wants_an_error() {
    let mut args = sys::XLA_FFI_Future_SetError_Args { struct_size: 32, ..Default::default() };
    let error = invoke(slot(api(5), 15), &mut args).unwrap_err();
    assert_eq!(error.message(), "Error must not be null or OK");
}

/// A host that makes no errors gets no future: a failure of the work would look like success.
#[test]
fn without_errors_there_are_no_futures() {
    let mut table = *HostVersion::V0_12.api();
    table.XLA_FFI_Error_Create = None;
    // SAFETY: the table lives as long as this function.
    let api = unsafe { crate::api::HostApi::new(&raw const table) }.unwrap();
    let error = api.create_future().unwrap_err();
    assert!(error.message().contains("ErrorCreate"), "{error}");
}

/// An error that cannot be made leaves the call open, and is told.
#[test]
fn an_error_that_cannot_be_made_is_no_success() {
    unsafe extern "C" fn nothing(_: *mut sys::XLA_FFI_Error_Create_Args) -> *mut sys::XLA_FFI_Error {
        std::ptr::null_mut()
    }
    let mut table = *HostVersion::V0_12.api();
    table.XLA_FFI_Error_Create = Some(nothing);
    // SAFETY: the table lives as long as this function.
    let api = unsafe { crate::api::HostApi::new(&raw const table) }.unwrap();
    let raw = api.create_future().unwrap();
    // SAFETY: the host's share of the future, taken once.
    let future = unsafe { Future::take(raw) }.unwrap();
    // SAFETY: the future is not complete.
    let refused = unsafe { api.complete_future(raw, Some(&Error::aborted("lost"))) };
    assert!(refused.unwrap_err().message().contains("stays open"));
    assert!(!future.is_ready());
    // SAFETY: it is still not complete.
    unsafe { api.complete_future(raw, None) }.unwrap();
    future.wait().unwrap();
}
