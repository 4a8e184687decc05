//! Execution.

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

use crate::common::client::{Plugin, Start, int_option};

#[test]
fn execute() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let (output, done) = loaded.run_with(&[&buffer], &Start::default()).unwrap();
    done.outcome().unwrap();
    assert!(output.ready_event().is_ready());
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
    assert!(!buffer.is_deleted());
}

/// The host's memory is overwritten as soon as the plugin says that it is free, with the buffer object already gone.
#[test]
fn zero_copy_sources_are_not_read_after_they_are_free() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    for semantics in [
        PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes,
        PJRT_HostBufferSemantics_kImmutableZeroCopy,
        PJRT_HostBufferSemantics_kMutableZeroCopy,
    ] {
        let mut data = Box::new([1i32, 2, 3, 4]);
        let address = data.as_mut_ptr() as usize;
        let (pointer, device) = (data.as_ptr().cast(), client.devices()[0]);
        // SAFETY: the box lives until the event, and is not changed before.
        let put = unsafe { client.transfer(pointer, PJRT_Buffer_Type_S32, &[4], &[], semantics, device) };
        let (buffer, done) = put.unwrap();
        let (overwritten, wait) = std::sync::mpsc::channel();
        done.on_ready(move |outcome| {
            outcome.unwrap();
            // SAFETY: the plugin said that it does not use the memory any more.
            unsafe { (address as *mut [i32; 4]).write([-100; 4]) };
            overwritten.send(()).unwrap();
        });
        let output = loaded.run(&[&buffer]).unwrap();
        drop(buffer);
        assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
        wait.recv().unwrap();
        drop(data);
    }
}

#[test]
fn wrong_arguments() {
    let plugin = Plugin::get();
    let client = plugin.client_with(&mut [int_option("num_devices", 2)]).unwrap();
    let loaded = client.compile(plugin.programs.sum);
    let devices = client.devices();
    let here = client.put(&[1, 2, 3, 4], devices[0]);
    let failed = loaded.run(&[&here]).err().unwrap();
    failed.expect(Code::InvalidArgument, "Execution supplied 1 buffers but compiled program expected 2 buffers");
    let elsewhere = client.put(&[1, 2, 3, 4], devices[1]);
    let failed = loaded.run(&[&here, &elsewhere]).err().unwrap();
    failed.expect(Code::InvalidArgument, "Buffer passed to Execute() as argument 1 to replica 0 is on device");
    let deleted = client.put(&[1, 2, 3, 4], devices[0]);
    deleted.delete();
    loaded.run(&[&here, &deleted]).err().unwrap().expect(Code::InvalidArgument, "Buffer has been deleted or donated.");
    let output = loaded.run(&[&here, &here]).unwrap();
    assert_eq!(output.integers().unwrap(), [2, 4, 6, 8]);
}

/// torch_xla starts each device of a program by a call of its own.
#[test]
fn one_device_of_several() {
    let plugin = Plugin::get();
    let client = plugin.client_with(&mut [int_option("num_devices", 2)]).unwrap();
    let Some(loaded) = client.compile_replicas(plugin.programs.increment, 2) else { return };
    let outputs: Vec<_> = client
        .devices()
        .into_iter()
        .map(|device| {
            let buffer = client.put(&[1, 2, 3, 4], device);
            loaded.run_with(&[&buffer], &Start { device: Some(device), ..Start::default() }).unwrap().0
        })
        .collect();
    for output in outputs {
        assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
    }
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let failed = loaded.run(&[&buffer]).err().unwrap();
    failed.expect(Code::InvalidArgument, "the number of devices is 2");
}

#[test]
fn concurrent_usage() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..4 {
                    assert_eq!(loaded.run(&[&buffer]).unwrap().integers().unwrap(), [2, 3, 4, 5]);
                }
            });
        }
    });
}

/// Sixteen threads compile and run programs of their own on one client.
#[test]
fn concurrent_compilation() {
    let plugin = Plugin::get();
    let client = plugin.client();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let client = &client;
            scope.spawn(move || {
                let buffer = client.put(&[number; 4], client.devices()[0]);
                let output = client.compile(plugin.programs.increment).run(&[&buffer]).unwrap();
                drop(buffer);
                let output = client.compile(plugin.programs.sum).run(&[&output, &output]).unwrap();
                assert_eq!(output.integers().unwrap(), [2 * (number + 1); 4]);
            });
        }
    });
}
