//! Objects of two clients in one call: refused by name, wherever the other client's object has a place.

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

use crate::common::client::{Client, Failure, Plugin, Start, int_option};

/// Two clients, the second with more devices: objects with and without a counterpart.
fn two() -> (&'static Plugin, Client, Client) {
    let plugin = Plugin::get();
    (plugin, plugin.client(), plugin.client_with(&mut [int_option("num_devices", 3)]).unwrap())
}

#[track_caller]
fn refused(failed: Option<Failure>, phrase: &str) {
    let failed = failed.unwrap_or_else(|| panic!("nothing refuses {phrase}"));
    failed.expect(Code::InvalidArgument, phrase);
    failed.expect(Code::InvalidArgument, " belongs to client ");
    failed.expect(Code::InvalidArgument, ", but the call is to client ");
}

#[test]
fn programs_run_on_their_own_devices() {
    let (plugin, here, there) = two();
    let loaded = here.compile(plugin.programs.increment);
    for device in there.devices() {
        let buffer = there.put(&[1, 2, 3, 4], device);
        let start = Start { device: Some(device), ..Start::default() };
        refused(loaded.run_with(&[&buffer], &start).err(), "execute_device: the device ");
        refused(loaded.run(&[&buffer]).err(), "argument 0: the buffer ");
        let own = here.put(&[1, 2, 3, 4], here.devices()[0]);
        refused(loaded.run_with(&[&own], &start).err(), "execute_device: the device ");
    }
    let own = here.put(&[1, 2, 3, 4], here.devices()[0]);
    let start = Start { device: Some(here.devices()[0]), ..Start::default() };
    let (output, _) = loaded.run_with(&[&own], &start).unwrap();
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
}

#[test]
fn buffers_are_made_in_their_clients_memories() {
    let (plugin, here, there) = two();
    let api = &plugin.api.base;
    let (values, dim) = ([1i32], [1i64]);
    let own = here.devices()[0];
    for device in there.devices() {
        let memory = there.default_memory(device);
        for (device, memory, phrase) in [
            (device, std::ptr::null_mut(), "device: the device "),
            (std::ptr::null_mut(), memory, "memory: the memory "),
            (own, memory, "memory: the memory "),
            (device, here.default_memory(own), "device: the device "),
        ] {
            let put = plugin.call(api.PJRT_Client_BufferFromHostBuffer, |args| {
                args.client = here.raw;
                args.data = values.as_ptr().cast();
                args.type_ = PJRT_Buffer_Type_S32;
                (args.dims, args.num_dims) = (dim.as_ptr(), 1);
                (args.device, args.memory) = (device, memory);
            });
            refused(put.err(), phrase);
            let view = plugin.call(api.PJRT_Client_CreateViewOfDeviceBuffer, |args| {
                args.client = here.raw;
                args.device_buffer_ptr = values.as_ptr().cast_mut().cast();
                args.element_type = PJRT_Buffer_Type_S32;
                (args.dims, args.num_dims) = (dim.as_ptr(), 1);
                (args.device, args.memory) = (device, memory);
            });
            refused(view.err(), phrase);
        }
        let broken = plugin.call(api.PJRT_Client_CreateErrorBuffer, |args| {
            args.client = here.raw;
            args.memory = memory;
            args.error_code = PJRT_Error_Code_INTERNAL;
            args.shape_element_type = PJRT_Buffer_Type_S32;
        });
        refused(broken.err(), "memory: the memory ");
    }
}

#[test]
fn a_memory_of_another_device_is_refused() {
    let (plugin, _, client) = two();
    let (devices, values, dim) = (client.devices(), [1i32], [1i64]);
    let put = plugin.call(plugin.api.base.PJRT_Client_BufferFromHostBuffer, |args| {
        args.client = client.raw;
        args.data = values.as_ptr().cast();
        args.type_ = PJRT_Buffer_Type_S32;
        (args.dims, args.num_dims) = (dim.as_ptr(), 1);
        (args.device, args.memory) = (devices[1], client.default_memory(devices[2]));
    });
    put.err().unwrap().expect(Code::InvalidArgument, " is not a memory of the device ");
}

/// A copy has the buffer's elements and nothing else of its client, so it may go anywhere, and outlives both.
#[test]
fn copies_go_to_devices_of_other_clients() {
    let (plugin, here, there) = two();
    let source = here.put(&[1, 2, 3], here.devices()[0]);
    let device = there.devices()[2];
    let copied = plugin.call(plugin.api.base.PJRT_Buffer_CopyToDevice, |args| {
        (args.buffer, args.dst_device) = (source.raw, device);
    });
    let copies =
        [plugin.buffer(copied.unwrap().dst_buffer), source.copy_to_memory(there.default_memory(device)).unwrap()];
    drop((source, here, there));
    for copy in copies {
        assert_eq!(copy.integers().unwrap(), [1, 2, 3]);
    }
}
