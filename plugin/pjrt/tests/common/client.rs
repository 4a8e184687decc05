//! A client of the PJRT C API: what a framework does, with every object destroyed when it is dropped.
//!
//! The plugin is the toy of this crate, or the library that `OXCALL_TEST_PLUGIN` names.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::{OnceLock, mpsc};

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;
use xla_ffi_sys::pjrt_later::{
    PJRT_Api_Later, PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args, PJRT_LogicalDeviceIds,
};

use super::programs::{self, Programs};
use super::toy::Toy;

/// The variable with the path of a plugin's library.
pub(crate) const PLUGIN: &str = "OXCALL_TEST_PLUGIN";

/// A loaded plugin.
pub(crate) struct Plugin {
    pub(crate) api: &'static PJRT_Api_Later,
    pub(crate) programs: &'static Programs,
}

// SAFETY: the table never changes, and its functions may be called from any thread.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

/// A function of the table.
pub(crate) type Slot<A> = Option<unsafe extern "C" fn(args: *mut A) -> *mut PJRT_Error>;

/// An error of the plugin.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Failure {
    /// Checks the code, and that the message holds a phrase.
    #[track_caller]
    pub(crate) fn expect(&self, code: Code, phrase: &str) {
        assert!(self.code == code && self.message.contains(phrase), "expected {code:?}: {phrase}; got {self:?}");
    }
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// The text of a C array.
pub(crate) fn text(data: *const c_char, size: usize) -> String {
    String::from_utf8(elements(data.cast::<u8>(), size)).expect("texts are UTF-8")
}

/// The elements of a C array.
pub(crate) fn elements<T: Copy>(data: *const T, len: usize) -> Vec<T> {
    if len == 0 {
        return Vec::new();
    }
    assert!(!data.is_null());
    // SAFETY: plugins return arrays beside their lengths.
    unsafe { slice::from_raw_parts(data, len) }.to_vec()
}

impl Plugin {
    /// The toy, whatever the environment says.
    pub(crate) fn toy() -> &'static Plugin {
        static TOY: OnceLock<Plugin> = OnceLock::new();
        TOY.get_or_init(|| Plugin::new(oxcall_pjrt::api::<Toy>(), &programs::TOY))
    }

    /// The plugin under test.
    pub(crate) fn get() -> &'static Plugin {
        static TESTED: OnceLock<Plugin> = OnceLock::new();
        let Some(path) = std::env::var_os(PLUGIN) else { return Plugin::toy() };
        TESTED.get_or_init(|| {
            // SAFETY: a plugin's constructors may run; its library stays loaded, as the table does.
            let api = unsafe {
                let library = libloading::Library::new(&path).expect("the plugin loads");
                let get_api =
                    *library.get::<unsafe extern "C" fn() -> *const PJRT_Api>(b"GetPjrtApi").expect("GetPjrtApi");
                std::mem::forget(library);
                get_api()
            };
            Plugin::new(api, &programs::STABLEHLO)
        })
    }

    fn new(api: *const PJRT_Api, programs: &'static Programs) -> Plugin {
        // SAFETY: the table lives as long as the process, and is as long as it says.
        let api = unsafe {
            assert!((*api).struct_size >= size_of::<PJRT_Api_Later>(), "the table has all functions of 0.112");
            &*api.cast::<PJRT_Api_Later>()
        };
        let plugin = Plugin { api, programs };
        plugin.call(api.base.PJRT_Plugin_Initialize, |_| ()).expect("the plugin initializes");
        plugin
    }

    /// Calls a function with args of which `fill` sets the inputs; gives them back with the outputs.
    pub(crate) fn call<A: Default>(&self, slot: Slot<A>, fill: impl FnOnce(&mut A)) -> Outcome<A> {
        let mut args = A::default();
        fill(&mut args);
        // SAFETY: args begin with their size.
        unsafe { (&raw mut args).cast::<usize>().write(size_of::<A>()) };
        let function = slot.expect("every slot is filled");
        // SAFETY: the args are complete; the tests keep to the contract of each function.
        self.check(unsafe { function(&raw mut args) }).map(|()| args)
    }

    /// The error that a function returned, which is destroyed.
    pub(crate) fn check(&self, error: *mut PJRT_Error) -> Outcome<()> {
        if error.is_null() {
            return Ok(());
        }
        let api = &self.api.base;
        let mut message =
            PJRT_Error_Message_Args { struct_size: size_of::<PJRT_Error_Message_Args>(), ..Default::default() };
        let mut code =
            PJRT_Error_GetCode_Args { struct_size: size_of::<PJRT_Error_GetCode_Args>(), ..Default::default() };
        let mut destroy =
            PJRT_Error_Destroy_Args { struct_size: size_of::<PJRT_Error_Destroy_Args>(), ..Default::default() };
        (message.error, code.error, destroy.error) = (error, error, error);
        // SAFETY: the error is alive until it is destroyed.
        unsafe {
            api.PJRT_Error_Message.expect("filled")(&raw mut message);
            assert!(api.PJRT_Error_GetCode.expect("filled")(&raw mut code).is_null());
            let message = text(message.message, message.message_size);
            api.PJRT_Error_Destroy.expect("filled")(&raw mut destroy);
            Err(Failure { code: Code::from_code(code.code).expect("a code of XLA"), message })
        }
    }

    /// A client with the options of the tests.
    pub(crate) fn client(&'static self) -> Client {
        self.client_with(&mut []).expect("the client is created")
    }

    pub(crate) fn client_with(&'static self, options: &mut [PJRT_NamedValue]) -> Outcome<Client> {
        let args = self.call(self.api.base.PJRT_Client_Create, |args| {
            args.create_options = options.as_ptr();
            args.num_options = options.len();
        })?;
        Ok(Client { plugin: self, raw: args.client })
    }

    /// Takes an event over.
    pub(crate) fn event(&'static self, raw: *mut PJRT_Event) -> Event {
        assert!(!raw.is_null());
        Event { plugin: self, raw }
    }

    /// Takes a buffer over.
    pub(crate) fn buffer(&'static self, raw: *mut PJRT_Buffer) -> Buffer {
        assert!(!raw.is_null());
        Buffer { plugin: self, raw }
    }

    /// The extension of a type.
    pub(crate) fn extension<T>(&self, type_: PJRT_Extension_Type) -> Option<&'static T> {
        let mut next = self.api.base.extension_start;
        // SAFETY: the chain is static, and each entry as long as it says.
        unsafe {
            while let Some(base) = next.as_ref() {
                if base.type_ == type_ {
                    assert!(base.struct_size >= size_of::<T>());
                    return Some(&*next.cast::<T>());
                }
                next = base.next;
            }
        }
        None
    }
}

/// An option of a client.
pub(crate) fn int_option(name: &'static str, value: i64) -> PJRT_NamedValue {
    let union = PJRT_NamedValue__bindgen_ty_1 { int64_value: value };
    option(name, PJRT_NamedValue_kInt64, union)
}

/// An option of a client.
pub(crate) fn bool_option(name: &'static str, value: bool) -> PJRT_NamedValue {
    let union = PJRT_NamedValue__bindgen_ty_1 { bool_value: value };
    option(name, PJRT_NamedValue_kBool, union)
}

fn option(name: &'static str, type_: PJRT_NamedValue_Type, union: PJRT_NamedValue__bindgen_ty_1) -> PJRT_NamedValue {
    PJRT_NamedValue {
        struct_size: size_of::<PJRT_NamedValue>(),
        extension_start: null_mut(),
        name: name.as_ptr().cast(),
        name_size: name.len(),
        type_,
        __bindgen_anon_1: union,
        value_size: 1,
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident($raw:ty, $destroy:ident.$field:ident)) => {
        $(#[$doc])*
        pub(crate) struct $name {
            pub(crate) plugin: &'static Plugin,
            pub(crate) raw: *mut $raw,
        }

        // SAFETY: the objects of the C API may be used by any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                let destroyed = self.plugin.call(self.plugin.api.base.$destroy, |args| args.$field = self.raw);
                destroyed.expect("objects can be destroyed");
            }
        }
    };
}

handle! {
    /// A client.
    Client(PJRT_Client, PJRT_Client_Destroy.client)
}
handle! {
    /// An event.
    Event(PJRT_Event, PJRT_Event_Destroy.event)
}
handle! {
    /// A buffer.
    Buffer(PJRT_Buffer, PJRT_Buffer_Destroy.buffer)
}
handle! {
    /// A program that is loaded.
    Loaded(PJRT_LoadedExecutable, PJRT_LoadedExecutable_Destroy.executable)
}
handle! {
    /// A program.
    Executable(PJRT_Executable, PJRT_Executable_Destroy.executable)
}
handle! {
    /// What an execution is given for its custom calls.
    Context(PJRT_ExecuteContext, PJRT_ExecuteContext_Destroy.context)
}

impl Event {
    pub(crate) fn is_ready(&self) -> bool {
        self.plugin.call(self.plugin.api.base.PJRT_Event_IsReady, |args| args.event = self.raw).unwrap().is_ready
    }

    pub(crate) fn wait(&self) -> Outcome<()> {
        self.plugin.call(self.plugin.api.base.PJRT_Event_Await, |args| args.event = self.raw).map(drop)
    }

    pub(crate) fn error(&self) -> Outcome<()> {
        self.plugin.call(self.plugin.api.base.PJRT_Event_Error, |args| args.event = self.raw).map(drop)
    }

    /// Calls `callback` with the outcome when it is there.
    pub(crate) fn on_ready(&self, callback: impl FnOnce(Outcome<()>) + Send + 'static) {
        struct Callback(&'static Plugin, Box<dyn FnOnce(Outcome<()>) + Send>);
        unsafe extern "C" fn called(error: *mut PJRT_Error, user_arg: *mut c_void) {
            // SAFETY: the box below, which is called once.
            let Callback(plugin, callback) = *unsafe { Box::from_raw(user_arg.cast::<Callback>()) };
            callback(plugin.check(error));
        }
        let boxed = Box::into_raw(Box::new(Callback(self.plugin, Box::new(callback))));
        let registered = self.plugin.call(self.plugin.api.base.PJRT_Event_OnReady, |args| {
            args.event = self.raw;
            args.callback = Some(called);
            args.user_arg = boxed.cast();
        });
        registered.expect("callbacks can be registered");
    }

    /// Waits by a callback.
    pub(crate) fn outcome(&self) -> Outcome<()> {
        let (sender, receiver) = mpsc::channel();
        self.on_ready(move |outcome| sender.send(outcome).expect("the test waits"));
        receiver.recv().expect("the callback runs")
    }
}

impl Client {
    pub(crate) fn devices(&self) -> Vec<*mut PJRT_Device> {
        let args = self.plugin.call(self.plugin.api.base.PJRT_Client_Devices, |args| args.client = self.raw).unwrap();
        elements(args.devices, args.num_devices)
    }

    pub(crate) fn addressable_devices(&self) -> Vec<*mut PJRT_Device> {
        let slot = self.plugin.api.base.PJRT_Client_AddressableDevices;
        let args = self.plugin.call(slot, |args| args.client = self.raw).unwrap();
        elements(args.addressable_devices, args.num_addressable_devices)
    }

    pub(crate) fn description(&self, device: *mut PJRT_Device) -> *mut PJRT_DeviceDescription {
        let slot = self.plugin.api.base.PJRT_Device_GetDescription;
        self.plugin.call(slot, |args| args.device = device).unwrap().device_description
    }

    pub(crate) fn device_id(&self, device: *mut PJRT_Device) -> i32 {
        let description = self.description(device);
        let slot = self.plugin.api.base.PJRT_DeviceDescription_Id;
        self.plugin.call(slot, |args| args.device_description = description).unwrap().id
    }

    pub(crate) fn default_memory(&self, device: *mut PJRT_Device) -> *mut PJRT_Memory {
        self.plugin.call(self.plugin.api.base.PJRT_Device_DefaultMemory, |args| args.device = device).unwrap().memory
    }

    /// A buffer with the contents of `data`, and the event after which `data` is free.
    ///
    /// # Safety
    /// `data` with `strides` is readable until that event, or only during the call, as `semantics` says.
    pub(crate) unsafe fn transfer(
        &self,
        data: *const c_void,
        type_: PJRT_Buffer_Type,
        dims: &[i64],
        strides: &[i64],
        semantics: PJRT_HostBufferSemantics,
        device: *mut PJRT_Device,
    ) -> Outcome<(Buffer, Event)> {
        let args = self.plugin.call(self.plugin.api.base.PJRT_Client_BufferFromHostBuffer, |args| {
            args.client = self.raw;
            args.data = data;
            args.type_ = type_;
            (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
            (args.byte_strides, args.num_byte_strides) = (strides.as_ptr(), strides.len());
            args.host_buffer_semantics = semantics;
            args.device = device;
        })?;
        Ok((self.plugin.buffer(args.buffer), self.plugin.event(args.done_with_host_buffer)))
    }

    /// A vector of integers on a device.
    pub(crate) fn put(&self, values: &[i32], device: *mut PJRT_Device) -> Buffer {
        let (data, dims) = (values.as_ptr().cast(), [values.len() as i64]);
        let semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
        // SAFETY: the slice outlives the call.
        let put = unsafe { self.transfer(data, PJRT_Buffer_Type_S32, &dims, &[], semantics, device) };
        let (buffer, done) = put.expect("the transfer starts");
        done.wait().expect("the transfer ends");
        buffer
    }

    pub(crate) fn compile_as(&self, format: &str, code: impl AsRef<[u8]>, options: &[u8]) -> Outcome<Loaded> {
        let code = code.as_ref();
        let program = PJRT_Program {
            struct_size: size_of::<PJRT_Program>(),
            extension_start: null_mut(),
            code: code.as_ptr().cast_mut().cast(),
            code_size: code.len(),
            format: format.as_ptr().cast(),
            format_size: format.len(),
        };
        let args = self.plugin.call(self.plugin.api.base.PJRT_Client_Compile, |args| {
            args.client = self.raw;
            args.program = &raw const program;
            args.compile_options = options.as_ptr().cast();
            args.compile_options_size = options.len();
        })?;
        Ok(Loaded { plugin: self.plugin, raw: args.executable })
    }

    /// A program for one device.
    pub(crate) fn compile(&self, code: &str) -> Loaded {
        self.compile_as(self.plugin.programs.format, code, &options(1)).expect("the program compiles")
    }

    /// A program of several replicas; `None` for a plugin that has programs for one device only and says so.
    pub(crate) fn compile_replicas(&self, code: &str, replicas: u8) -> Option<Loaded> {
        match self.compile_as(self.plugin.programs.format, code, &options(replicas)) {
            Err(failure) if failure.code == Code::Unimplemented && std::env::var_os(PLUGIN).is_some() => None,
            compiled => Some(compiled.expect("the program compiles")),
        }
    }

    pub(crate) fn deserialize(&self, bytes: &[u8]) -> Outcome<Loaded> {
        let args = self.plugin.call(self.plugin.api.base.PJRT_Executable_DeserializeAndLoad, |args| {
            args.client = self.raw;
            args.serialized_executable = bytes.as_ptr().cast();
            args.serialized_executable_size = bytes.len();
        })?;
        Ok(Loaded { plugin: self.plugin, raw: args.loaded_executable })
    }
}

/// A serialized `CompileOptionsProto` for a program of so many replicas, on the first devices.
pub(crate) fn options(replicas: u8) -> Vec<u8> {
    // DeviceAssignmentProto: counts, and one list of replicas.
    let mut column = vec![0x0a, replicas];
    column.extend(0..replicas);
    let mut assignment = vec![0x08, replicas, 0x10, 1, 0x1a, column.len() as u8];
    assignment.extend(column);
    // ExecutableBuildOptionsProto: num_replicas, num_partitions, device_assignment.
    let mut build = vec![0x20, replicas, 0x28, 1, 0x4a, assignment.len() as u8];
    build.extend(assignment);
    [vec![0x1a, build.len() as u8], build].concat()
}

/// How an execution is started, beside its arguments.
#[derive(Default)]
pub(crate) struct Start<'a> {
    pub(crate) non_donatable: &'a [i64],
    pub(crate) context: Option<&'a Context>,
    pub(crate) device: Option<*mut PJRT_Device>,
    /// The size of the options that an older client has.
    pub(crate) options_size: Option<usize>,
}

impl Loaded {
    /// Runs the program on one device; gives its only result, and the event of its end.
    pub(crate) fn run_with(&self, arguments: &[&Buffer], start: &Start<'_>) -> Outcome<(Buffer, Event)> {
        let arguments: Vec<*mut PJRT_Buffer> = arguments.iter().map(|buffer| buffer.raw).collect();
        let (mut output, mut done) = ([null_mut::<PJRT_Buffer>()], [null_mut::<PJRT_Event>()]);
        let (argument_lists, output_lists) = ([arguments.as_ptr()], [output.as_mut_ptr()]);
        let mut options = PJRT_ExecuteOptions {
            struct_size: start.options_size.unwrap_or(size_of::<PJRT_ExecuteOptions>()),
            non_donatable_input_indices: start.non_donatable.as_ptr(),
            num_non_donatable_input_indices: start.non_donatable.len(),
            context: start.context.map_or(null_mut(), |context| context.raw),
            call_location: c"tests/conformance.rs".as_ptr(),
            launch_id: 42,
            ..Default::default()
        };
        self.plugin.call(self.plugin.api.base.PJRT_LoadedExecutable_Execute, |args| {
            args.executable = self.raw;
            args.options = &raw mut options;
            args.argument_lists = argument_lists.as_ptr();
            args.num_devices = 1;
            args.num_args = arguments.len();
            args.output_lists = output_lists.as_ptr();
            args.device_complete_events = done.as_mut_ptr();
            args.execute_device = start.device.unwrap_or(null_mut());
        })?;
        Ok((self.plugin.buffer(output[0]), self.plugin.event(done[0])))
    }

    pub(crate) fn run(&self, arguments: &[&Buffer]) -> Outcome<Buffer> {
        self.run_with(arguments, &Start::default()).map(|(output, _)| output)
    }

    pub(crate) fn executable(&self) -> Executable {
        let slot = self.plugin.api.base.PJRT_LoadedExecutable_GetExecutable;
        let args = self.plugin.call(slot, |args| args.loaded_executable = self.raw).unwrap();
        Executable { plugin: self.plugin, raw: args.executable }
    }

    pub(crate) fn devices(&self) -> Vec<*mut PJRT_Device> {
        let slot = self.plugin.api.base.PJRT_LoadedExecutable_AddressableDevices;
        let args = self.plugin.call(slot, |args| args.executable = self.raw).unwrap();
        elements(args.addressable_devices, args.num_addressable_devices)
    }

    /// Replicas and partitions.
    pub(crate) fn logical_ids(&self) -> Vec<(i32, i32)> {
        let slot = self.plugin.api.PJRT_LoadedExecutable_AddressableDeviceLogicalIds;
        let fill = |args: &mut PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args| args.executable = self.raw;
        let args = self.plugin.call(slot, fill).unwrap();
        let ids = elements(args.addressable_device_logical_ids, args.num_addressable_device_logical_ids);
        ids.into_iter().map(|id: PJRT_LogicalDeviceIds| (id.replica, id.partition)).collect()
    }

    pub(crate) fn is_deleted(&self) -> bool {
        let slot = self.plugin.api.base.PJRT_LoadedExecutable_IsDeleted;
        self.plugin.call(slot, |args| args.executable = self.raw).unwrap().is_deleted
    }
}

impl Buffer {
    pub(crate) fn ready_event(&self) -> Event {
        let args =
            self.plugin.call(self.plugin.api.base.PJRT_Buffer_ReadyEvent, |args| args.buffer = self.raw).unwrap();
        self.plugin.event(args.event)
    }

    pub(crate) fn is_deleted(&self) -> bool {
        self.plugin.call(self.plugin.api.base.PJRT_Buffer_IsDeleted, |args| args.buffer = self.raw).unwrap().is_deleted
    }

    pub(crate) fn delete(&self) {
        self.plugin.call(self.plugin.api.base.PJRT_Buffer_Delete, |args| args.buffer = self.raw).unwrap();
    }

    pub(crate) fn dims(&self) -> Vec<i64> {
        let args =
            self.plugin.call(self.plugin.api.base.PJRT_Buffer_Dimensions, |args| args.buffer = self.raw).unwrap();
        elements(args.dims, args.num_dims)
    }

    /// The contents, in the order of `minor_to_major`, or of the buffer itself.
    pub(crate) fn bytes(&self, minor_to_major: Option<&[i64]>) -> Outcome<Vec<u8>> {
        let slot = self.plugin.api.base.PJRT_Buffer_ToHostBuffer;
        let size = self.plugin.call(slot, |args| args.src = self.raw)?.dst_size;
        let mut layout = minor_to_major.map(|minor_to_major| PJRT_Buffer_MemoryLayout {
            struct_size: size_of::<PJRT_Buffer_MemoryLayout>(),
            extension_start: null_mut(),
            __bindgen_anon_1: PJRT_Buffer_MemoryLayout__bindgen_ty_1 {
                tiled: PJRT_Buffer_MemoryLayout_Tiled {
                    struct_size: size_of::<PJRT_Buffer_MemoryLayout_Tiled>(),
                    minor_to_major: minor_to_major.as_ptr(),
                    minor_to_major_size: minor_to_major.len(),
                    tile_dims: null(),
                    tile_dim_sizes: null(),
                    ..Default::default()
                },
            },
            type_: PJRT_Buffer_MemoryLayout_Type_Tiled,
        });
        // One more byte than needed: the address is real even for none.
        let mut bytes = vec![0u8; size + 1];
        let args = self.plugin.call(slot, |args| {
            args.src = self.raw;
            args.dst = bytes.as_mut_ptr().cast();
            args.dst_size = size;
            args.host_layout = layout.as_mut().map_or(null_mut(), |layout| &raw mut *layout);
        })?;
        self.plugin.event(args.event).outcome()?;
        bytes.pop();
        Ok(bytes)
    }

    /// The contents as integers.
    pub(crate) fn integers(&self) -> Outcome<Vec<i32>> {
        let integer = |word: &[u8]| i32::from_ne_bytes(word.try_into().expect("four bytes"));
        Ok(self.bytes(None)?.chunks_exact(4).map(integer).collect())
    }

    pub(crate) fn address(&self) -> Outcome<usize> {
        let slot = self.plugin.api.base.PJRT_Buffer_OpaqueDeviceMemoryDataPointer;
        Ok(self.plugin.call(slot, |args| args.buffer = self.raw)?.device_memory_ptr as usize)
    }

    pub(crate) fn increase_references(&self) -> Outcome<()> {
        let slot = self.plugin.api.base.PJRT_Buffer_IncreaseExternalReferenceCount;
        self.plugin.call(slot, |args| args.buffer = self.raw).map(drop)
    }

    pub(crate) fn decrease_references(&self) -> Outcome<()> {
        let slot = self.plugin.api.base.PJRT_Buffer_DecreaseExternalReferenceCount;
        self.plugin.call(slot, |args| args.buffer = self.raw).map(drop)
    }

    pub(crate) fn copy_to_memory(&self, memory: *mut PJRT_Memory) -> Outcome<Buffer> {
        let args = self.plugin.call(self.plugin.api.base.PJRT_Buffer_CopyToMemory, |args| {
            args.buffer = self.raw;
            args.dst_memory = memory;
        })?;
        Ok(self.plugin.buffer(args.dst_buffer))
    }
}
