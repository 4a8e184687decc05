//! The table itself, and what callers of other versions see.

use std::ffi::c_void;
use std::ptr;

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;
use xla_ffi_sys::pjrt_later::{PJRT_Api_Later_STRUCT_SIZE, PJRT_Memory_FunctionTable};

use crate::common::client::{Plugin, Start};

#[test]
fn version() {
    let api = &Plugin::get().api.base;
    assert_eq!((api.pjrt_api_version.major_version, api.pjrt_api_version.minor_version), (0, 112));
    assert_eq!(api.struct_size, PJRT_Api_Later_STRUCT_SIZE);
}

#[test]
fn every_slot_is_filled() {
    let api = std::ptr::from_ref(Plugin::get().api);
    let head = std::mem::offset_of!(PJRT_Api, PJRT_Error_Destroy) / 8;
    assert_eq!(PJRT_Api_Later_STRUCT_SIZE / 8 - head, 138);
    for index in head..PJRT_Api_Later_STRUCT_SIZE / 8 {
        // SAFETY: the table is as long as it says, and functions are words.
        assert_ne!(unsafe { api.cast::<usize>().add(index).read() }, 0, "slot {}", index - head);
    }
}

#[test]
fn functions_that_are_not_there_say_so() {
    let plugin = Plugin::get();
    macro_rules! unimplemented {
        ($($name:ident)*) => {$(
            let failed = plugin.call(plugin.api.base.$name, |_| ());
            failed.err().expect("an error").expect(Code::Unimplemented, concat!(stringify!($name), " is not implemented"));
        )*};
    }
    unimplemented! {
        PJRT_Client_DmaMap
        PJRT_Buffer_CopyRawToHost
        PJRT_Client_CreateBuffersForAsyncHostToDevice
        PJRT_CopyToDeviceStream_AddChunk
        PJRT_Device_PoisonExecution
    }
    let failed = plugin.call(plugin.api.PJRT_Buffer_Bitcast, |_| ());
    failed.err().unwrap().expect(Code::Unimplemented, "PJRT_Buffer_Bitcast is not implemented");
}

/// An older caller's struct ends earlier: what follows it is not ours.
#[test]
fn nothing_is_written_past_the_callers_struct() {
    #[repr(C)]
    struct Old {
        args: PJRT_Buffer_IsDeleted_Args,
        guard: [u8; 64],
    }
    let plugin = Plugin::get();
    let client = plugin.client();
    let buffer = client.put(&[1], client.devices()[0]);
    let mut old = Old { args: PJRT_Buffer_IsDeleted_Args::default(), guard: [0xa5; 64] };
    for (size, expected) in [(24, true), (25, false), (4096, false)] {
        old.args = PJRT_Buffer_IsDeleted_Args { struct_size: size, buffer: buffer.raw, is_deleted: true, ..old.args };
        // SAFETY: the memory is as long as `size` says, or has all that the function knows.
        plugin.check(unsafe { plugin.api.base.PJRT_Buffer_IsDeleted.unwrap()(&raw mut old.args) }).unwrap();
        assert_eq!(old.args.is_deleted, expected, "{size}");
        assert_eq!(old.guard, [0xa5; 64]);
    }
    old.args.struct_size = 3;
    // SAFETY: as above.
    let failed = plugin.check(unsafe { plugin.api.base.PJRT_Buffer_IsDeleted.unwrap()(&raw mut old.args) });
    failed.unwrap_err().expect(Code::InvalidArgument, "Unexpected PJRT_Buffer_IsDeleted_Args size");
}

/// jaxlib 0.6.2 (API 0.70) says 24 bytes, and reads the field behind them.
#[test]
fn attributes_are_counted_for_callers_that_say_too_few_bytes() {
    let plugin = Plugin::get();
    let mut args = PJRT_Plugin_Attributes_Args { struct_size: 24, num_attributes: usize::MAX, ..Default::default() };
    // SAFETY: the struct is longer than it says.
    plugin.check(unsafe { plugin.api.base.PJRT_Plugin_Attributes.unwrap()(&raw mut args) }).unwrap();
    assert!((3..100).contains(&args.num_attributes), "{}", args.num_attributes);
}

#[test]
fn null_args_and_objects_are_errors() {
    let plugin = Plugin::get();
    // SAFETY: null is what is tested.
    let failed = plugin.check(unsafe { plugin.api.base.PJRT_Buffer_Device.unwrap()(std::ptr::null_mut()) });
    failed.unwrap_err().expect(Code::InvalidArgument, "args are null");
    let failed = plugin.call(plugin.api.base.PJRT_Buffer_Device, |_| ());
    failed.err().unwrap().expect(Code::InvalidArgument, "buffer is null");
    plugin.call(plugin.api.base.PJRT_Buffer_Destroy, |_| ()).expect("null may be destroyed");
}

/// The options of torch_xla 2.9 have 80 bytes: without context and what follows it.
#[test]
fn short_execute_options() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.increment);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let start = Start { options_size: Some(80), ..Start::default() };
    let (output, done) = loaded.run_with(&[&buffer], &start).unwrap();
    done.wait().unwrap();
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
}

#[test]
fn errors_have_no_payloads() {
    let plugin = Plugin::get();
    // SAFETY: an error of the plugin, which is checked and destroyed.
    unsafe {
        let error = plugin.api.base.PJRT_Buffer_Device.unwrap()(std::ptr::null_mut());
        assert!(plugin.call(plugin.api.PJRT_Error_ForEachPayload, |args| args.error = error).is_ok());
        plugin.check(error).unwrap_err();
    }
}

/// The first word of a memory is a table, by which frameworks attach their own data.
#[test]
fn memories_keep_user_data() {
    static DELETED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    unsafe extern "C" fn delete(data: *mut c_void) {
        DELETED.fetch_add(data as usize, std::sync::atomic::Ordering::SeqCst);
    }
    let plugin = Plugin::get();
    let client = plugin.client();
    let memory = client.default_memory(client.devices()[0]);
    // SAFETY: by the contract of the API the first word is such a pointer.
    let table = unsafe { &**memory.cast::<*const PJRT_Memory_FunctionTable>() };
    assert!(table.struct_size >= size_of::<PJRT_Memory_FunctionTable>() && table.instance_struct_size > 8);
    let (get, set) = (table.get_user_data.unwrap(), table.set_user_data.unwrap());
    let (key, other) = (&raw const DELETED as *const c_void, client.raw as *const c_void);
    // SAFETY: the data are numbers, which only `delete` looks at.
    unsafe {
        assert!(get(memory, key).is_null());
        set(memory, key, ptr::without_provenance_mut(2), Some(delete));
        set(memory, other, ptr::without_provenance_mut(20), Some(delete));
        assert_eq!((get(memory, key) as usize, get(memory, other) as usize), (2, 20));
        set(memory, key, ptr::without_provenance_mut(200), Some(delete));
        assert_eq!((get(memory, key) as usize, DELETED.load(std::sync::atomic::Ordering::SeqCst)), (200, 2));
    }
    drop(client);
    assert_eq!(DELETED.load(std::sync::atomic::Ordering::SeqCst), 222);
}
