//! Events of the client's own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::{PJRT_Error_Code, PJRT_Error_Code_DATA_LOSS, PJRT_Error_Code_OK, PJRT_Event_Set_Args};

use crate::common::client::{Event, Outcome, Plugin};

fn create() -> Event {
    let plugin = Plugin::get();
    plugin.event(plugin.call(plugin.api.base.PJRT_Event_Create, |_| ()).unwrap().event)
}

fn set(event: &Event, code: PJRT_Error_Code, message: &str) -> Outcome<PJRT_Event_Set_Args> {
    event.plugin.call(event.plugin.api.base.PJRT_Event_Set, |args| {
        args.event = event.raw;
        args.error_code = code;
        args.error_message = message.as_ptr().cast();
        args.error_message_size = message.len();
    })
}

#[test]
fn set_by_the_client() {
    let event = create();
    assert!(!event.is_ready());
    event.error().unwrap_err().expect(Code::FailedPrecondition, "not ready");
    set(&event, PJRT_Error_Code_OK, "").unwrap();
    event.wait().unwrap();
    set(&event, PJRT_Error_Code_OK, "").err().unwrap().expect(Code::FailedPrecondition, "already complete");
}

#[test]
fn every_waiter_gets_an_error_of_its_own() {
    let event = create();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..3 {
        let sender = sender.clone();
        event.on_ready(move |outcome| sender.send(outcome.unwrap_err()).unwrap());
    }
    set(&event, PJRT_Error_Code_DATA_LOSS, "gone").unwrap();
    event.on_ready(move |outcome| sender.send(outcome.unwrap_err()).unwrap());
    let failures: Vec<_> = receiver.into_iter().collect();
    assert_eq!(failures.len(), 4);
    for failure in failures {
        failure.expect(Code::DataLoss, "gone");
    }
    event.wait().unwrap_err().expect(Code::DataLoss, "gone");
    event.error().unwrap_err().expect(Code::DataLoss, "gone");
}

/// A callback runs once, whether it or the completion comes first.
#[test]
fn callbacks_race_with_completion() {
    for _ in 0..500 {
        let event = create();
        let calls = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| set(&event, PJRT_Error_Code_OK, "").map(drop).unwrap());
            for _ in 0..2 {
                let calls = calls.clone();
                event.on_ready(move |outcome| {
                    outcome.unwrap();
                    calls.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }
}

/// An event may be destroyed while others wait for what it stood for.
#[test]
fn destroyed_before_it_is_complete() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..16 {
        let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
        let event = buffer.ready_event();
        drop(buffer);
        let sender = sender.clone();
        event.on_ready(move |outcome| sender.send(outcome).unwrap());
    }
    drop(sender);
    assert_eq!(receiver.into_iter().map(|outcome| outcome.unwrap()).count(), 16);
}
