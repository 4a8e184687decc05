//! Counts of C arrays: absurd ones, and those of null pointers, are refused before anything is read.
//!
//! Each array that is given here has one element. So a function that reads as much as its caller says reads past its
//! end, which Miri reports, or ends the process.

use std::ffi::c_void;
use std::ptr::null_mut;

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

use crate::common::client::{Client, Failure, Plugin, Slot, int_option, options};

/// More than any list has: small enough for an address, and too much for it.
const ABSURD: [usize; 4] = [1 << 37, isize::MAX as usize, isize::MAX as usize + 1, usize::MAX];

#[track_caller]
fn refused<A: Default>(plugin: &Plugin, slot: Slot<A>, phrase: &str, fill: impl FnOnce(&mut A)) {
    let failure = plugin.call(slot, fill).err().unwrap_or_else(|| panic!("nothing refuses the {phrase}"));
    failure.expect(Code::InvalidArgument, phrase);
}

/// Calls a function with absurd counts of `$data`, and with a null pointer that has a count.
macro_rules! counts {
    ($plugin:expr, $slot:expr, $phrase:literal, $data:ident, $count:ident, $address:expr, |$args:ident| $fill:expr) => {
        for count in ABSURD {
            refused($plugin, $slot, $phrase, |$args| {
                $fill;
                $args.$data = $address;
                $args.$count = count;
            });
        }
        refused($plugin, $slot, $phrase, |$args| {
            $fill;
            $args.$data = null_mut::<u8>().cast();
            $args.$count = 1;
        });
    };
}

fn program() -> (Plugin, Client) {
    let plugin = Plugin::get();
    (Plugin { api: plugin.api, programs: plugin.programs }, plugin.client())
}

#[test]
fn of_options() {
    let plugin = Plugin::get();
    let api = &plugin.api.base;
    let option = int_option("num_devices", 1);
    let first = &raw const option;
    counts!(plugin, api.PJRT_Client_Create, "options", create_options, num_options, first, |args| {});
    counts!(plugin, api.PJRT_TopologyDescription_Create, "options", create_options, num_options, first, |args| {});
    let name = c"a".as_ptr();
    let slot = api.PJRT_TopologyDescription_Create;
    counts!(plugin, slot, "topology_name", topology_name, topology_name_size, name, |args| {});
    let create = |value: PJRT_NamedValue, phrase| {
        refused(plugin, api.PJRT_Client_Create, phrase, |args| {
            args.create_options = &raw const value;
            args.num_options = 1;
        });
    };
    for count in ABSURD {
        create(PJRT_NamedValue { name_size: count, ..int_option("num_devices", 1) }, "the name of an option");
        let number = [1i64];
        for (type_, union) in [
            (PJRT_NamedValue_kString, PJRT_NamedValue__bindgen_ty_1 { string_value: name }),
            (PJRT_NamedValue_kInt64List, PJRT_NamedValue__bindgen_ty_1 { int64_array_value: number.as_ptr() }),
        ] {
            let value = int_option("libraries", 0);
            create(PJRT_NamedValue { type_, __bindgen_anon_1: union, value_size: count, ..value }, "libraries");
        }
    }
}

#[test]
fn of_transfers() {
    let (plugin, client) = program();
    let api = &plugin.api.base;
    let (device, values, dim, stride) = (client.devices()[0], [1i32], [1i64], [4i64]);
    let memory = client.default_memory(device);
    let put = |args: &mut PJRT_Client_BufferFromHostBuffer_Args| {
        args.client = client.raw;
        args.data = values.as_ptr().cast();
        args.type_ = PJRT_Buffer_Type_S32;
        (args.dims, args.num_dims) = (dim.as_ptr(), 1);
        args.device = device;
    };
    let slot = api.PJRT_Client_BufferFromHostBuffer;
    counts!(&plugin, slot, "dims", dims, num_dims, dim.as_ptr(), |args| put(args));
    counts!(&plugin, slot, "byte_strides", byte_strides, num_byte_strides, stride.as_ptr(), |args| put(args));
    let view = |args: &mut PJRT_Client_CreateViewOfDeviceBuffer_Args| {
        args.client = client.raw;
        args.device_buffer_ptr = values.as_ptr().cast_mut().cast();
        args.element_type = PJRT_Buffer_Type_S32;
        args.device = device;
    };
    let slot = api.PJRT_Client_CreateViewOfDeviceBuffer;
    counts!(&plugin, slot, "dims", dims, num_dims, dim.as_ptr(), |args| view(args));
    let broken = |args: &mut PJRT_Client_CreateErrorBuffer_Args| {
        args.client = client.raw;
        args.memory = memory;
        args.error_code = PJRT_Error_Code_INTERNAL;
        args.shape_element_type = PJRT_Buffer_Type_S32;
    };
    let (slot, text) = (api.PJRT_Client_CreateErrorBuffer, c"a".as_ptr());
    counts!(&plugin, slot, "dims", shape_dims, shape_num_dims, dim.as_ptr(), |args| broken(args));
    counts!(&plugin, slot, "error_message", error_message, error_message_size, text, |args| broken(args));
}

/// Layouts have a struct of their own, which three functions take.
#[test]
fn of_layouts() {
    let (plugin, client) = program();
    let api = &plugin.api.base;
    let (device, values, dim, sizes) = (client.devices()[0], [1i32], [1i64], [1usize]);
    let buffer = client.put(&[1, 2], device);
    let check = |phrase, change: &dyn Fn(&mut PJRT_Buffer_MemoryLayout_Tiled)| {
        let order = [0i64];
        let mut tiled = PJRT_Buffer_MemoryLayout_Tiled {
            struct_size: size_of::<PJRT_Buffer_MemoryLayout_Tiled>(),
            minor_to_major: order.as_ptr(),
            minor_to_major_size: 1,
            ..Default::default()
        };
        change(&mut tiled);
        let mut layout = PJRT_Buffer_MemoryLayout {
            struct_size: size_of::<PJRT_Buffer_MemoryLayout>(),
            extension_start: null_mut(),
            __bindgen_anon_1: PJRT_Buffer_MemoryLayout__bindgen_ty_1 { tiled },
            type_: PJRT_Buffer_MemoryLayout_Type_Tiled,
        };
        refused(&plugin, api.PJRT_Client_BufferFromHostBuffer, phrase, |args| {
            args.client = client.raw;
            args.data = values.as_ptr().cast();
            args.type_ = PJRT_Buffer_Type_S32;
            (args.dims, args.num_dims) = (dim.as_ptr(), 1);
            args.device = device;
            args.device_layout = &raw mut layout;
        });
        refused(&plugin, api.PJRT_Client_CreateViewOfDeviceBuffer, phrase, |args| {
            args.client = client.raw;
            args.device_buffer_ptr = values.as_ptr().cast_mut().cast();
            args.element_type = PJRT_Buffer_Type_S32;
            (args.dims, args.num_dims) = (dim.as_ptr(), 1);
            args.device = device;
            args.layout = &raw mut layout;
        });
        let mut room = [0i32; 2];
        refused(&plugin, api.PJRT_Buffer_ToHostBuffer, phrase, |args| {
            args.src = buffer.raw;
            args.dst = room.as_mut_ptr().cast();
            args.dst_size = size_of_val(&room);
            args.host_layout = &raw mut layout;
        });
    };
    for count in ABSURD {
        check("the layout has", &|tiled| tiled.minor_to_major_size = count);
        check("tile_dim_sizes", &|tiled| {
            (tiled.tile_dim_sizes, tiled.num_tiles) = (sizes.as_ptr(), count);
        });
        let size = [count];
        check("a tile of tile_dims", &|tiled| {
            (tiled.tile_dim_sizes, tiled.num_tiles, tiled.tile_dims) = (size.as_ptr(), 1, dim.as_ptr());
        });
    }
    check("minor_to_major is null", &|tiled| tiled.minor_to_major = std::ptr::null());
    check("tile_dim_sizes is null", &|tiled| tiled.num_tiles = 1);
    check("tile_dims is null", &|tiled| (tiled.tile_dim_sizes, tiled.num_tiles) = (sizes.as_ptr(), 1));
    check("not aligned to 8 bytes", &|tiled| {
        tiled.minor_to_major = dim.as_ptr().cast::<u8>().wrapping_add(1).cast();
    });
}

#[test]
fn of_programs() {
    let (plugin, client) = program();
    let api = &plugin.api.base;
    let (byte, valid) = (c"a".as_ptr(), options(1));
    let code = PJRT_Program {
        struct_size: size_of::<PJRT_Program>(),
        extension_start: null_mut(),
        code: byte.cast_mut(),
        code_size: 1,
        format: byte,
        format_size: 1,
    };
    let compile = |program: &PJRT_Program| {
        let program = std::ptr::from_ref(program);
        move |args: &mut PJRT_Client_Compile_Args| {
            args.client = client.raw;
            args.program = program;
        }
    };
    let fill = compile(&code);
    let slot = api.PJRT_Client_Compile;
    counts!(&plugin, slot, "compile options", compile_options, compile_options_size, byte, |args| fill(args));
    for count in ABSURD {
        for (phrase, broken) in [
            ("program", PJRT_Program { code_size: count, ..code }),
            ("program format", PJRT_Program { format_size: count, ..code }),
            ("program is null", PJRT_Program { code: null_mut(), ..code }),
        ] {
            let fill = compile(&broken);
            refused(&plugin, slot, phrase, |args| {
                fill(args);
                (args.compile_options, args.compile_options_size) = (valid.as_ptr().cast(), valid.len());
            });
        }
    }
    let topology = plugin.call(api.PJRT_Client_TopologyDescription, |args| args.client = client.raw).unwrap().topology;
    let fill = |args: &mut PJRT_Compile_Args| {
        args.topology = topology;
        args.program = &raw const code;
        args.client = client.raw;
    };
    let slot = api.PJRT_Compile;
    counts!(&plugin, slot, "compile options", compile_options, compile_options_size, byte, |args| fill(args));
    let slot = api.PJRT_Executable_DeserializeAndLoad;
    counts!(&plugin, slot, "serialized executable", serialized_executable, serialized_executable_size, byte, |args| {
        args.client = client.raw;
    });
    let slot = api.PJRT_TopologyDescription_Deserialize;
    counts!(&plugin, slot, "topology", serialized_topology, serialized_topology_size, byte, |args| {});
}

#[test]
fn of_executions() {
    let (plugin, client) = program();
    let api = &plugin.api.base;
    let loaded = client.compile(plugin.programs.increment);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let arguments = [buffer.raw];
    let (mut output, index) = ([null_mut::<PJRT_Buffer>()], [0i64]);
    let (lists, outputs) = ([arguments.as_ptr()], [output.as_mut_ptr()]);
    let execute = |change: &dyn Fn(&mut PJRT_LoadedExecutable_Execute_Args, &mut PJRT_ExecuteOptions)| -> Failure {
        let mut options = PJRT_ExecuteOptions { struct_size: size_of::<PJRT_ExecuteOptions>(), ..Default::default() };
        let failed = plugin.call(api.PJRT_LoadedExecutable_Execute, |args| {
            args.executable = loaded.raw;
            (args.argument_lists, args.num_devices, args.num_args) = (lists.as_ptr(), 1, 1);
            args.output_lists = outputs.as_ptr();
            change(args, &mut options);
            args.options = &raw mut options;
        });
        failed.err().expect("it is refused")
    };
    for count in ABSURD {
        let failed = execute(&|args, _| args.num_devices = count);
        failed.expect(Code::InvalidArgument, "argument lists when the number of devices is 1");
        let failed = execute(&|args, _| args.num_args = count);
        failed.expect(Code::InvalidArgument, "compiled program expected 1 buffers");
        let failed = execute(&|_, options| {
            options.non_donatable_input_indices = index.as_ptr();
            options.num_non_donatable_input_indices = count;
        });
        failed.expect(Code::InvalidArgument, "non_donatable_input_indices has");
        for change in [
            (|options, count| options.num_send_ops = count) as fn(&mut PJRT_ExecuteOptions, usize),
            |options, count| options.num_recv_ops = count,
        ] {
            execute(&|_, options| change(options, count)).expect(Code::Unimplemented, "send and recv");
        }
    }
    let failed = execute(&|_, options| options.num_non_donatable_input_indices = 1);
    failed.expect(Code::InvalidArgument, "non_donatable_input_indices is null");
    execute(&|args, _| args.argument_lists = null_mut()).expect(Code::InvalidArgument, "argument_lists is null");
    execute(&|args, _| args.output_lists = null_mut()).expect(Code::InvalidArgument, "output_lists is null");
    let nowhere = [std::ptr::null::<*mut PJRT_Buffer>()];
    let failed = execute(&|args, _| args.argument_lists = nowhere.as_ptr());
    failed.expect(Code::InvalidArgument, "a list of argument_lists is null");
    let nowhere = [null_mut::<*mut PJRT_Buffer>()];
    let failed = execute(&|args, _| args.output_lists = nowhere.as_ptr());
    failed.expect(Code::InvalidArgument, "a list of output_lists is null");
}

#[test]
fn of_device_assignments() {
    let (plugin, client) = program();
    let slot = plugin.api.base.PJRT_Client_DefaultDeviceAssignment;
    let mut room = [0];
    let mut ask = |replicas, partitions, size, out: Option<()>| {
        let failed = plugin.call(slot, |args| {
            args.client = client.raw;
            (args.num_replicas, args.num_partitions, args.default_assignment_size) = (replicas, partitions, size);
            args.default_assignment = out.map_or(null_mut(), |()| room.as_mut_ptr());
        });
        failed.err().expect("it is refused")
    };
    ask(i32::MAX, i32::MAX, usize::MAX, Some(())).expect(Code::InvalidArgument, "partitions exceed");
    ask(1, 1, 1, None).expect(Code::InvalidArgument, "default_assignment is null");
    ask(-1, 1, 1, Some(())).expect(Code::InvalidArgument, "num_replicas is negative");
}

#[test]
fn of_events_and_extensions() {
    let (plugin, client) = program();
    let api = &plugin.api.base;
    let event = plugin.call(api.PJRT_Event_Create, |_| ()).unwrap().event;
    let byte = c"a".as_ptr();
    counts!(&plugin, api.PJRT_Event_Set, "error_message", error_message, error_message_size, byte, |args| {
        args.event = event;
        args.error_code = PJRT_Error_Code_INTERNAL;
    });
    plugin.call(api.PJRT_Event_Set, |args| args.event = event).unwrap();
    drop(Plugin::get().event(event));
    let layouts = plugin.extension::<PJRT_Layouts_Extension>(PJRT_Extension_Type_Layouts).unwrap();
    let (dim, kind) = ([1i64], PJRT_Buffer_Type_S32);
    let slot = layouts.PJRT_Layouts_PJRT_Client_GetDefaultLayout;
    counts!(&plugin, slot, "dims", dims, num_dims, dim.as_ptr(), |args| {
        (args.client, args.type_) = (client.raw, kind);
    });
    let topology = plugin.call(api.PJRT_Client_TopologyDescription, |args| args.client = client.raw).unwrap().topology;
    let slot = layouts.PJRT_Layouts_PJRT_Topology_GetDefaultLayout;
    counts!(&plugin, slot, "dims", dims, num_dims, dim.as_ptr(), |args| {
        (args.topology_description, args.type_) = (topology, kind);
    });
    let ffi = plugin.extension::<PJRT_FFI_Extension>(PJRT_Extension_Type_FFI).unwrap();
    counts!(&plugin, ffi.type_register, "type_name", type_name, type_name_size, byte, |args| {});
    // The struct of this function has a size of its own.
    let register = |target, platform| {
        let mut args = PJRT_FFI_Register_Handler_Args {
            struct_size: size_of::<PJRT_FFI_Register_Handler_Args>(),
            target_name: byte,
            target_name_size: target,
            platform_name: byte,
            platform_name_size: platform,
            handler: null_mut::<c_void>(),
            ..Default::default()
        };
        // SAFETY: the struct is complete.
        plugin.check(unsafe { ffi.register_handler.unwrap()(&raw mut args) }).unwrap_err()
    };
    for count in ABSURD {
        register(count, 1).expect(Code::InvalidArgument, "target_name");
        register(1, count).expect(Code::InvalidArgument, "platform_name");
    }
}
