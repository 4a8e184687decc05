//! Buffers and transfers.

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

use crate::common::client::{Buffer, Plugin, elements, int_option};

fn iota(plugin: &'static Plugin) -> Buffer {
    let client = plugin.client();
    client.put(&[41, 42, 43, 44], client.devices()[0])
}

#[test]
fn until_complete() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let data = [41.0f32, 42.0, 43.0, 44.0];
    let semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes;
    let (device, data_ptr) = (client.devices()[0], data.as_ptr().cast());
    // SAFETY: the array lives until the event.
    let put = unsafe { client.transfer(data_ptr, PJRT_Buffer_Type_F32, &[4], &[], semantics, device) };
    let (buffer, done) = put.unwrap();
    done.wait().unwrap();
    done.error().unwrap();
    assert!(done.is_ready());
    let expected: Vec<u8> = data.iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(buffer.bytes(None).unwrap(), expected);
}

#[test]
fn what_a_buffer_says() {
    let plugin = Plugin::get();
    let buffer = iota(plugin);
    let api = &plugin.api.base;
    assert_eq!(
        plugin.call(api.PJRT_Buffer_ElementType, |args| args.buffer = buffer.raw).unwrap().type_,
        PJRT_Buffer_Type_S32
    );
    assert_eq!(buffer.dims(), [4]);
    let unpadded = plugin.call(api.PJRT_Buffer_UnpaddedDimensions, |args| args.buffer = buffer.raw).unwrap();
    assert_eq!(unpadded.num_dims, 1);
    let dynamic = plugin.call(api.PJRT_Buffer_DynamicDimensionIndices, |args| args.buffer = buffer.raw).unwrap();
    assert_eq!(dynamic.num_dynamic_dims, 0);
    let size = plugin.call(api.PJRT_Buffer_OnDeviceSizeInBytes, |args| args.buffer = buffer.raw).unwrap();
    assert!(size.on_device_size_in_bytes >= 16);
    let layout = plugin.call(api.PJRT_Buffer_GetMemoryLayout, |args| args.buffer = buffer.raw).unwrap().layout;
    assert_eq!(layout.type_, PJRT_Buffer_MemoryLayout_Type_Tiled);
    // SAFETY: the type says which struct is there.
    assert_eq!(unsafe { layout.__bindgen_anon_1.tiled.minor_to_major_size }, 1);
}

/// The bound is the buffer's size, and what the host gets has the size that was computed.
#[test]
fn dynamic_dimensions() {
    let plugin = Plugin::get();
    let (Some(first), Some(total)) = (plugin.programs.first, plugin.programs.total) else { return };
    let (client, api) = (plugin.client(), &plugin.api.base);
    let (first, total) = (client.compile(first), client.compile(total));
    for size in 0..=4 {
        let x = client.put(&[size, 10, 20, 30], client.devices()[0]);
        let result = first.run(&[&x]).unwrap();
        let expected = &[size, 10, 20, 30][..size as usize];
        let dynamic = plugin.call(api.PJRT_Buffer_DynamicDimensionIndices, |args| args.buffer = result.raw).unwrap();
        assert_eq!(elements(dynamic.dynamic_dim_indices, dynamic.num_dynamic_dims), [0]);
        assert_eq!(result.dims(), [4]);
        let unpadded = plugin.call(api.PJRT_Buffer_UnpaddedDimensions, |args| args.buffer = result.raw).unwrap();
        assert_eq!(elements(unpadded.unpadded_dims, unpadded.num_dims), [i64::from(size)]);
        assert_eq!(result.integers().unwrap(), expected);
        assert_eq!(total.run(&[&result]).unwrap().integers().unwrap(), [expected.iter().sum::<i32>(); 4]);
    }
    // An array of the bound's size is one, but a dynamic array is none of static size.
    let x = client.put(&[3, 10, 20, 30], client.devices()[0]);
    assert_eq!(total.run(&[&x]).unwrap().integers().unwrap(), [63; 4]);
    let result = first.run(&[&x]).unwrap();
    let increment = client.compile(plugin.programs.increment);
    let Err(failure) = increment.run(&[&result]) else { panic!("a dynamic array is taken for a static one") };
    failure.expect(Code::InvalidArgument, "s32[<=4]");
}

#[test]
fn delete() {
    let plugin = Plugin::get();
    let buffer = iota(plugin);
    assert!(!buffer.is_deleted());
    buffer.delete();
    assert!(buffer.is_deleted());
    buffer.delete();
    assert_eq!(buffer.dims(), [4]);
    buffer.bytes(None).unwrap_err().expect(Code::InvalidArgument, "called on deleted or donated buffer");
    buffer.ready_event().wait().unwrap_err().expect(Code::InvalidArgument, "called on deleted or donated buffer");
}

#[test]
fn ready_event() {
    let event = iota(Plugin::get()).ready_event();
    event.wait().unwrap();
    assert!(event.is_ready());
    event.outcome().unwrap();
}

#[test]
fn to_host_without_layout() {
    assert_eq!(iota(Plugin::get()).integers().unwrap(), [41, 42, 43, 44]);
}

#[test]
fn small_destinations_are_refused() {
    let plugin = Plugin::get();
    let buffer = iota(plugin);
    let mut room = [0u8; 15];
    let failed = plugin.call(plugin.api.base.PJRT_Buffer_ToHostBuffer, |args| {
        args.src = buffer.raw;
        args.dst = room.as_mut_ptr().cast();
        args.dst_size = room.len();
    });
    failed.err().unwrap().expect(Code::InvalidArgument, "15 bytes");
}

/// Numpy arrays arrive with their strides: transposed, reversed, sliced, broadcast.
#[test]
fn any_strides() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let device = client.devices()[0];
    let data: Vec<i16> = (0..24).collect();
    let at = |index: usize| data.as_ptr().wrapping_add(index).cast();
    let check = |start, dims: &[i64], strides: &[i64], expected: &[i16]| {
        let semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
        // SAFETY: the strides stay within `data`, which outlives the call.
        let put = unsafe { client.transfer(at(start), PJRT_Buffer_Type_S16, dims, strides, semantics, device) };
        let (buffer, _done) = put.unwrap();
        let expected: Vec<u8> = expected.iter().flat_map(|value| value.to_ne_bytes()).collect();
        assert_eq!(buffer.bytes(None).unwrap(), expected, "{dims:?} {strides:?}");
    };
    check(0, &[2, 3], &[6, 2], &[0, 1, 2, 3, 4, 5]);
    check(0, &[2, 3], &[2, 4], &[0, 2, 4, 1, 3, 5]);
    check(5, &[2, 3], &[-6, -2], &[5, 4, 3, 2, 1, 0]);
    check(0, &[2, 2], &[24, 8], &[0, 4, 12, 16]);
    check(7, &[3], &[0], &[7, 7, 7]);
    check(9, &[], &[], &[9]);
    check(0, &[0, 5], &[0, 0], &[]);
}

#[test]
fn any_order_on_the_host() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let data = [1u8, 2, 3, 4, 5, 6];
    let semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
    let (device, data_ptr) = (client.devices()[0], data.as_ptr().cast());
    // SAFETY: the array outlives the call.
    let put = unsafe { client.transfer(data_ptr, PJRT_Buffer_Type_U8, &[2, 3], &[], semantics, device) };
    let (buffer, _done) = put.unwrap();
    assert_eq!(buffer.bytes(Some(&[1, 0])).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(buffer.bytes(Some(&[0, 1])).unwrap(), [1, 4, 2, 5, 3, 6]);
    buffer.bytes(Some(&[0, 0])).unwrap_err().expect(Code::InvalidArgument, "layout");
}

#[test]
fn nonsense_is_refused() {
    let client = Plugin::get().client();
    let data = [0u8; 8];
    let (device, data) = (client.devices()[0], data.as_ptr().cast());
    let semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
    let put = |type_, dims: &[i64], strides: &[i64]| {
        // SAFETY: nothing is read of what is refused.
        unsafe { client.transfer(data, type_, dims, strides, semantics, device) }.err().expect("an error")
    };
    put(PJRT_Buffer_Type_U8, &[-1], &[]).expect(Code::InvalidArgument, "dimensions");
    put(PJRT_Buffer_Type_U8, &[i64::MAX, i64::MAX], &[]).expect(Code::InvalidArgument, "dimensions");
    put(PJRT_Buffer_Type_U8, &[8], &[1, 1]).expect(Code::InvalidArgument, "strides");
    put(PJRT_Buffer_Type_INVALID, &[8], &[]).expect(Code::InvalidArgument, "element type");
    put(4711, &[8], &[]).expect(Code::InvalidArgument, "element type");
}

#[test]
fn external_references() {
    let plugin = Plugin::get();
    let buffer = iota(plugin);
    buffer.increase_references().unwrap();
    let address = buffer.address().unwrap();
    assert_ne!(address, 0);
    let on_cpu = plugin.call(plugin.api.base.PJRT_Buffer_IsOnCpu, |args| args.buffer = buffer.raw).unwrap().is_on_cpu;
    buffer.delete();
    if on_cpu {
        // SAFETY: the reference keeps the memory, also after deletion.
        assert_eq!(unsafe { (address as *const [i32; 4]).read_unaligned() }, [41, 42, 43, 44]);
    }
    buffer.decrease_references().unwrap();
    let none = buffer.decrease_references().unwrap_err();
    none.expect(Code::InvalidArgument, "Attempting to decrease reference on a buffer with zero reference count.");
    buffer.increase_references().unwrap_err().expect(Code::InvalidArgument, "deleted or donated");
    buffer.address().unwrap_err().expect(Code::InvalidArgument, "deleted or donated");
}

#[test]
fn unsafe_pointer() {
    let plugin = Plugin::get();
    let buffer = iota(plugin);
    let pointer = plugin.call(plugin.api.base.PJRT_Buffer_UnsafePointer, |args| args.buffer = buffer.raw).unwrap();
    assert_eq!(pointer.buffer_pointer, buffer.address().unwrap());
}

/// Copies go on when their source is gone.
#[test]
fn copy_between_devices() {
    let plugin = Plugin::get();
    let client = plugin.client_with(&mut [int_option("num_devices", 2)]).unwrap();
    let devices = client.devices();
    let source = client.put(&[41, 42, 43, 44], devices[0]);
    let (memory, mut copies) = (client.default_memory(devices[1]), Vec::new());
    for _ in 0..8 {
        copies.push(source.copy_to_memory(memory).unwrap());
        let args = plugin.call(plugin.api.base.PJRT_Buffer_CopyToDevice, |args| {
            args.buffer = source.raw;
            args.dst_device = devices[1];
        });
        copies.push(plugin.buffer(args.unwrap().dst_buffer));
    }
    drop(source);
    for copy in copies {
        let place = plugin.call(plugin.api.base.PJRT_Buffer_Memory, |args| args.buffer = copy.raw).unwrap();
        assert_eq!(place.memory, memory);
        assert_eq!(copy.integers().unwrap(), [41, 42, 43, 44]);
    }
}
