//! The server's services to a platform's author: asynchronous errors, panics, custom calls with a stream.

#[path = "common/mod.rs"]
mod common;

use std::ffi::c_void;

use common::client::{Context, Outcome, Plugin, Start, bool_option, options};
use common::toy::ToyStream;
use oxcall::prelude::*;
use oxcall::sync::{Condvar, Mutex};
use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

/// Lets through those that wait once it is open.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let open = self.open.lock();
        drop(self.opened.wait_while(open, |open| !*open));
    }
}

oxcall::user_data!(unsafe Gate as "toy.gate");

/// A copy that waits for the gate of its execution.
#[custom_call]
fn toy_gate(gate: UserData<Gate>, #[dims(n)] x: Array<i32>, #[dims(n)] mut y: Out<i32>) {
    gate.pass();
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = *x);
}

/// Adds the number of the device, which the stream knows.
#[custom_call]
fn toy_stream(stream: Stream, ordinal: DeviceOrdinal, #[dims(n)] x: Array<i32>, #[dims(n)] mut y: Out<i32>) {
    // SAFETY: it is registered for the toy platform, whose streams are of this type.
    let stream = unsafe { &*stream.as_ptr().cast::<ToyStream>() };
    assert_eq!(stream.device, ordinal.0);
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = x + stream.device);
}

/// Fails.
#[custom_call]
fn toy_failure(#[dims(n)] x: Array<i32>, #[dims(n)] mut y: Out<i32>) -> Result<()> {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = *x);
    Err(Error::data_loss("as asked"))
}

/// Registers an operation of this file for the toy platform, as any client may.
fn register(name: &str) -> Outcome<()> {
    let plugin = Plugin::toy();
    let extension: &PJRT_FFI = plugin.extension(PJRT_Extension_Type_FFI).expect("the extension");
    let handler = oxcall::registry::registry().find(name, "Host").expect("the operation").execute;
    // The struct has no extension pointer: its size is not that of the other args.
    let registered = plugin.call(extension.register_handler, |args| {
        args.target_name = name.as_ptr().cast();
        args.target_name_size = name.len();
        args.handler = handler as *mut c_void;
    });
    registered.map(drop)
}

fn compile(client: &common::client::Client, code: &str) -> Outcome<common::client::Loaded> {
    client.compile_as("toy", code, &options(1))
}

#[test]
fn errors_arrive_in_events() {
    let client = Plugin::toy().client();
    let failing = compile(&client, "program f\nparam s32[4]\nfail too bad").unwrap();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let (output, done) = failing.run_with(&[&buffer], &Start::default()).unwrap();
    done.wait().unwrap_err().expect(Code::Internal, "too bad");
    output.ready_event().outcome().unwrap_err().expect(Code::Internal, "too bad");
    output.integers().unwrap_err().expect(Code::Internal, "too bad");
    output.address().unwrap_err().expect(Code::Internal, "too bad");
    // What depends on it fails alike; the client is as good as before.
    let increment = client.compile(Plugin::toy().programs.increment);
    let dependent = increment.run(&[&output]).unwrap();
    dependent.ready_event().wait().unwrap_err().expect(Code::Internal, "too bad");
    let copy = output.copy_to_memory(client.default_memory(client.devices()[1])).unwrap();
    copy.integers().unwrap_err().expect(Code::Internal, "too bad");
    assert_eq!(increment.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
}

#[test]
fn buffers_that_hold_errors() {
    let plugin = Plugin::toy();
    let client = plugin.client();
    let (message, dims) = ("made to fail", [4i64]);
    let args = plugin.call(plugin.api.base.PJRT_Client_CreateErrorBuffer, |args| {
        args.client = client.raw;
        args.error_code = PJRT_Error_Code_DATA_LOSS;
        args.error_message = message.as_ptr().cast();
        args.error_message_size = message.len();
        (args.shape_dims, args.shape_num_dims) = (dims.as_ptr(), 1);
        args.shape_element_type = PJRT_Buffer_Type_S32;
        args.memory = client.default_memory(client.devices()[0]);
    });
    let buffer = plugin.buffer(args.unwrap().buffer);
    let output = client.compile(plugin.programs.increment).run(&[&buffer]).unwrap();
    output.integers().unwrap_err().expect(Code::DataLoss, "made to fail");
}

#[test]
fn panics_are_errors() {
    let client = Plugin::toy().client();
    let failed = compile(&client, "panic_now out of cheese").err().unwrap();
    failed.expect(Code::Internal, "the plugin panicked: out of cheese");
    let panicking = compile(&client, "program p\nparam s32[4]\npanic").unwrap();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    panicking.run(&[&buffer]).unwrap().integers().unwrap_err().expect(Code::Internal, "panicked");
    let increment = client.compile(Plugin::toy().programs.increment);
    assert_eq!(increment.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
}

#[test]
fn handlers_get_the_stream_of_their_device() {
    register("toy_stream").unwrap();
    register("toy_stream").expect("the same handler may be registered again");
    for synchronous in [false, true] {
        let client = Plugin::toy().client_with(&mut [bool_option("synchronous", synchronous)]).unwrap();
        let devices = client.devices();
        let loaded = compile(&client, "program s\nparam s32[4] donated\ncall toy_stream\nadd 10").unwrap();
        for (device, expected) in devices.into_iter().zip([[11, 12, 13, 14], [12, 13, 14, 15]]) {
            let buffer = client.put(&[1, 2, 3, 4], device);
            let start = Start { device: Some(device), ..Start::default() };
            let (output, done) = loaded.run_with(&[&buffer], &start).unwrap();
            assert_eq!(output.integers().unwrap(), expected);
            done.wait().unwrap();
        }
    }
}

#[test]
fn failing_and_unknown_handlers() {
    register("toy_failure").unwrap();
    let client = Plugin::toy().client();
    let loaded = compile(&client, "program f\nparam s32[4]\ncall toy_failure").unwrap();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    loaded.run(&[&buffer]).unwrap().integers().unwrap_err().expect(Code::DataLoss, "as asked");
    let failed = compile(&client, "program f\nparam s32[4]\ncall nobody").err().unwrap();
    failed.expect(Code::NotFound, "No FFI handler registered for nobody on a platform toy");
}

/// Execution returns before the work is done; whatever is asked of the results waits or says "not ready".
#[test]
fn work_goes_on_after_execute_returned() {
    register("toy_gate").unwrap();
    let plugin = Plugin::toy();
    let extension: &PJRT_FFI = plugin.extension(PJRT_Extension_Type_FFI).expect("the extension");
    let name = "toy.gate";
    let args = plugin.call(extension.type_register, |args| {
        args.type_name = name.as_ptr().cast();
        args.type_name_size = name.len();
    });
    let type_id = args.unwrap().type_id;
    let gate = Gate::default();
    let raw = plugin.call(plugin.api.base.PJRT_ExecuteContext_Create, |_| ()).unwrap().context;
    let context = Context { plugin, raw };
    let added = plugin.call(extension.user_data_add, |args| {
        args.context = context.raw;
        args.user_data = PJRT_FFI_UserData { type_id, data: (&raw const gate).cast_mut().cast() };
    });
    added.unwrap();

    let client = plugin.client();
    let waiting = compile(&client, "program w\nparam s32[4] donated\ncall toy_gate").unwrap();
    let increment = client.compile(plugin.programs.increment_donated);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let start = Start { context: Some(&context), ..Start::default() };
    let (output, done) = waiting.run_with(&[&buffer], &start).unwrap();
    assert!(buffer.is_deleted());
    drop((buffer, context));
    let ready = output.ready_event();
    let dependent = increment.run(&[&output]).unwrap();
    assert!(output.is_deleted());
    let copy = dependent.copy_to_memory(client.default_memory(client.devices()[1])).unwrap();
    for event in [&done, &ready, &dependent.ready_event(), &copy.ready_event()] {
        assert!(!event.is_ready());
    }
    done.error().unwrap_err().expect(Code::FailedPrecondition, "not ready");
    // Reading may begin, and everything else may be destroyed, before there is anything to read.
    let reader = std::thread::spawn(move || copy.integers());
    drop((output, dependent, waiting, increment, client));
    gate.open();
    assert_eq!(reader.join().unwrap().unwrap(), [2, 3, 4, 5]);
    done.wait().unwrap();
}

#[test]
fn topologies_without_a_client() {
    let plugin = Plugin::toy();
    let api = &plugin.api.base;
    let create = |name: &str| {
        plugin.call(api.PJRT_TopologyDescription_Create, |args| {
            args.topology_name = name.as_ptr().cast();
            args.topology_name_size = name.len();
        })
    };
    let topology = create("toys:5").unwrap().topology;
    let slot = api.PJRT_TopologyDescription_GetDeviceDescriptions;
    assert_eq!(plugin.call(slot, |args| args.topology = topology).unwrap().num_descriptions, 5);
    plugin.call(api.PJRT_TopologyDescription_Destroy, |args| args.topology = topology).unwrap();
    create("bricks").err().unwrap().expect(Code::InvalidArgument, "bricks");
}
