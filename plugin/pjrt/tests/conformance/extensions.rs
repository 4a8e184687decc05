//! Extensions: layouts, custom calls, descriptions of memories.

use std::ffi::{c_char, c_void};

use oxcall::prelude::{Array, Out, UserData, custom_call};
use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;
use xla_ffi_sys::pjrt_later::PJRT_Layouts_Extension_Later;

use crate::common::client::{Context, Plugin, Start, bool_option, elements, text};

fn layouts(plugin: &Plugin) -> &'static PJRT_Layouts_Extension_Later {
    plugin.extension(PJRT_Extension_Type_Layouts).expect("the plugin has the layouts extension")
}

/// The text of a layout.
fn serialized(plugin: &Plugin, layout: *mut PJRT_Layouts_MemoryLayout) -> String {
    let slot = layouts(plugin).base.PJRT_Layouts_MemoryLayout_Serialize;
    let args = plugin.call(slot, |args| args.layout = layout).unwrap();
    let text = text(args.serialized_bytes, args.serialized_bytes_size);
    // SAFETY: the bytes are given back once.
    unsafe { args.serialized_layout_deleter.unwrap()(args.serialized_layout) };
    text
}

/// The text of a layout that is ours, which is destroyed.
fn taken(plugin: &Plugin, layout: *mut PJRT_Layouts_MemoryLayout) -> String {
    let text = serialized(plugin, layout);
    plugin.call(layouts(plugin).base.PJRT_Layouts_MemoryLayout_Destroy, |args| args.layout = layout).unwrap();
    text
}

#[test]
fn layouts_of_everything() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let extension = &layouts(plugin).base;
    let dims = [2i64, 3, 4];
    let args = plugin.call(extension.PJRT_Layouts_PJRT_Client_GetDefaultLayout, |args| {
        args.client = client.raw;
        args.type_ = PJRT_Buffer_Type_F32;
        (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
    });
    assert_eq!(taken(plugin, args.unwrap().layout), "{2,1,0}");
    let slot = plugin.api.base.PJRT_Client_TopologyDescription;
    let topology = plugin.call(slot, |args| args.client = client.raw).unwrap().topology;
    let args = plugin.call(extension.PJRT_Layouts_PJRT_Topology_GetDefaultLayout, |args| {
        args.topology_description = topology;
        args.type_ = PJRT_Buffer_Type_F32;
        (args.dims, args.num_dims) = (dims.as_ptr(), 0);
    });
    assert_eq!(taken(plugin, args.unwrap().layout), "{}");
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let args = plugin.call(extension.PJRT_Layouts_PJRT_Buffer_MemoryLayout, |args| args.buffer = buffer.raw).unwrap();
    assert_eq!(taken(plugin, args.layout), "{0}");

    let executable = client.compile(plugin.programs.sum).executable();
    let slot = extension.PJRT_Layouts_PJRT_Executable_GetOutputLayouts;
    let args = plugin.call(slot, |args| args.executable = executable.raw).unwrap();
    let outputs = elements(args.layouts.cast_const(), args.num_outputs);
    let slot = layouts(plugin).PJRT_Layouts_PJRT_Executable_GetParameterLayouts;
    let args = plugin.call(slot, |args| args.executable = executable.raw).unwrap();
    let parameters = elements(args.layouts.cast_const(), args.num_parameters);
    assert_eq!((outputs.len(), parameters.len()), (1, 2));
    for layout in outputs.into_iter().chain(parameters) {
        assert_eq!(serialized(plugin, layout), "{0}");
    }
}

#[test]
fn memory_descriptions() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let type_ = PJRT_Extension_Type_MemoryDescriptions;
    let extension: &PJRT_MemoryDescriptions_Extension = plugin.extension(type_).expect("the plugin describes memories");
    let description = client.description(client.devices()[0]);
    let slot = extension.PJRT_DeviceDescription_MemoryDescriptions;
    let args = plugin.call(slot, |args| args.device_description = description).unwrap();
    let memories = elements(args.memory_descriptions, args.num_memory_descriptions);
    assert!(args.default_memory_index < memories.len());
    for memory in memories {
        let kind = plugin.call(extension.PJRT_MemoryDescription_Kind, |args| args.memory_description = memory).unwrap();
        assert!(!text(kind.kind, kind.kind_size).is_empty());
        assert_ne!(kind.kind_id, 0);
    }
}

#[test]
fn types_and_user_data_of_custom_calls() {
    let plugin = Plugin::get();
    let extension: &PJRT_FFI = plugin.extension(PJRT_Extension_Type_FFI).expect("the plugin has the FFI extension");
    let register = |name: &str| {
        plugin.call(extension.type_register, |args| {
            args.type_name = name.as_ptr().cast();
            args.type_name_size = name.len();
        })
    };
    let id = register("conformance.type").unwrap().type_id;
    assert!(id > 0);
    register("conformance.type").err().unwrap().expect(Code::AlreadyExists, "conformance.type");
    let raw = plugin.call(plugin.api.base.PJRT_ExecuteContext_Create, |_| ()).unwrap().context;
    let context = Context { plugin, raw };
    let add = || {
        plugin.call(extension.user_data_add, |args| {
            args.context = context.raw;
            args.user_data = PJRT_FFI_UserData { type_id: id, data: 8_usize as *mut c_void };
        })
    };
    add().unwrap();
    add().err().unwrap().expect(Code::AlreadyExists, "type id");
    let failed = plugin.call(extension.register_handler, |args| args.target_name = c"none".as_ptr() as *const c_char);
    failed.err().unwrap().expect(Code::InvalidArgument, "must provide an execute implementation");
}

struct Label(i32);

oxcall::user_data!(unsafe Label as "conformance.label");

/// Adds the label of its execution.
#[custom_call]
fn conformance_add_label(label: UserData<Label>, #[dims(n)] x: Array<i32>, #[dims(n)] mut y: Out<i32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = x + label.0);
}

fn register_add_label(plugin: &Plugin) {
    let extension: &PJRT_FFI = plugin.extension(PJRT_Extension_Type_FFI).expect("the plugin has the FFI extension");
    let target = "conformance_add_label";
    let handler = oxcall::registry::registry().find(target, "Host").unwrap().execute;
    let registered = plugin.call(extension.register_handler, |args| {
        (args.target_name, args.target_name_size) = (target.as_ptr().cast(), target.len());
        args.handler = handler as *mut c_void;
    });
    registered.unwrap();
}

/// Executions with user data of their own, at once: a handler that a client registered by its address sees that of its
/// execution, and an error where there is none.
#[test]
fn user_data_reaches_the_handlers_of_an_execution() {
    static LABELS: [Label; 8] =
        [Label(10), Label(20), Label(30), Label(40), Label(50), Label(60), Label(70), Label(80)];
    let plugin = Plugin::get();
    let extension: &PJRT_FFI = plugin.extension(PJRT_Extension_Type_FFI).expect("the plugin has the FFI extension");
    let name = "conformance.label";
    let registered = plugin.call(extension.type_register, |args| {
        (args.type_name, args.type_name_size) = (name.as_ptr().cast(), name.len());
    });
    let type_id = registered.unwrap().type_id;
    register_add_label(plugin);
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.labelled);
    std::thread::scope(|scope| {
        for label in &LABELS {
            let (client, loaded) = (&client, &loaded);
            let add = extension.user_data_add;
            scope.spawn(move || {
                let raw = plugin.call(plugin.api.base.PJRT_ExecuteContext_Create, |_| ()).unwrap().context;
                let context = Context { plugin, raw };
                let added = plugin.call(add, |args| {
                    args.context = context.raw;
                    args.user_data = PJRT_FFI_UserData { type_id, data: std::ptr::from_ref(label).cast_mut().cast() };
                });
                added.unwrap();
                let start = Start { context: Some(&context), ..Start::default() };
                for x in 0..20 {
                    let buffer = client.put(&[x; 4], client.devices()[0]);
                    let (output, _) = loaded.run_with(&[&buffer], &start).unwrap();
                    assert_eq!(output.integers().unwrap(), [x + label.0; 4]);
                }
            });
        }
    });
    let buffer = client.put(&[0; 4], client.devices()[0]);
    loaded.run(&[&buffer]).and_then(|output| output.integers()).unwrap_err().expect(Code::NotFound, "User data");
}

/// A program that fails before its call returns: the results and the event of the end tell, so that a framework that
/// keeps errors of calls (torch_xla does) goes on.
#[test]
fn failures_come_with_the_results() {
    let plugin = Plugin::get();
    register_add_label(plugin);
    let client = plugin.client();
    let loaded = client.compile(plugin.programs.labelled);
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let (output, done) = loaded.run_with(&[&buffer], &Start::default()).unwrap();
    done.wait().unwrap_err().expect(Code::NotFound, "User data");
    output.ready_event().wait().unwrap_err().expect(Code::NotFound, "User data");
    let (output, done) = client.compile(plugin.programs.sum).run_with(&[&output, &buffer], &Start::default()).unwrap();
    done.wait().unwrap_err().expect(Code::NotFound, "User data");
    output.integers().unwrap_err().expect(Code::NotFound, "User data");
    let output = client.compile(plugin.programs.increment).run(&[&buffer]).unwrap();
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
}

/// The option is the plugin's own, for JAX, which raises errors of calls.
#[test]
fn failures_of_calls_by_option() {
    let plugin = Plugin::get();
    if plugin.programs.huge.is_none() {
        return;
    }
    register_add_label(plugin);
    let client = plugin.client_with(&mut [bool_option("errors_at_call", true)]).unwrap();
    let buffer = client.put(&[1, 2, 3, 4], client.devices()[0]);
    let failed = client.compile(plugin.programs.labelled).run(&[&buffer]);
    failed.err().unwrap().expect(Code::NotFound, "User data");
    let output = client.compile(plugin.programs.increment).run(&[&buffer]).unwrap();
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
}
