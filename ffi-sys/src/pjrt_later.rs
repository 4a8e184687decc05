//! PJRT's additions after 0.90, the newest published header: 0.91 to 0.114. Written by hand; a test compares it with
//! the layouts of another binding that was generated from the header of 0.114.
//!
//! A struct that grew holds the old one as `base`. Additions that this project does not use are opaque pointers.

use core::ffi::{c_char, c_int, c_void};

use crate::pjrt::{
    PJRT_Api, PJRT_Buffer, PJRT_Buffer_MemoryLayout, PJRT_Buffer_Type, PJRT_Client, PJRT_Client_CreateErrorBuffer_Args,
    PJRT_Device, PJRT_Device_MemoryStats_Args, PJRT_Error, PJRT_Error_Code, PJRT_Executable,
    PJRT_Executable_DeserializeAndLoad_Args, PJRT_Executable_GetCompiledMemoryStats_Args, PJRT_ExecuteOptions,
    PJRT_Extension_Base, PJRT_Extension_Type, PJRT_Layouts_Extension, PJRT_Layouts_MemoryLayout, PJRT_LoadedExecutable,
    PJRT_Memory, PJRT_NamedValue, PJRT_TopologyDescription,
};

/// The layout of a struct: its name, its size with and without padding, and the names and offsets of its fields.
pub type Layout = (&'static str, usize, usize, &'static [(&'static str, usize)]);

macro_rules! structs {
    ($($(#[$doc:meta])* $name:ident ($size:ident) { $($field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name {
                $(pub $field: $ty,)*
            }

            impl Default for $name {
                fn default() -> Self {
                    // SAFETY: numbers, flags and pointers, all of which may be zero.
                    unsafe { core::mem::zeroed() }
                }
            }

            /// Up to the end of the last field, without padding.
            pub const $size: usize = {
                let ends = [$(core::mem::offset_of!($name, $field) + core::mem::size_of::<$ty>()),*];
                ends[ends.len() - 1]
            };
        )*

        /// The layouts of all structs of this module.
        pub const LAYOUTS: &[Layout] = &[$((
            stringify!($name),
            core::mem::size_of::<$name>(),
            $size,
            &[$((stringify!($field), core::mem::offset_of!($name, $field))),*],
        )),*];
    };
}

/// A function of the API table, as the generated bindings have it.
macro_rules! function {
    ($args:ty) => { Option<unsafe extern "C" fn(args: *mut $args) -> *mut PJRT_Error> };
}

pub const PJRT_API_LATER_MINOR: c_int = 112;

pub const PJRT_Extension_Type_Shardings: PJRT_Extension_Type = 19;

pub const PJRT_Buffer_Type_S1: PJRT_Buffer_Type = 30;
pub const PJRT_Buffer_Type_U1: PJRT_Buffer_Type = 31;

pub type PJRT_DeviceAttributes = c_void;

pub type PJRT_Error_PayloadVisitor = Option<
    unsafe extern "C" fn(
        key: *const c_char,
        key_size: usize,
        value: *const c_char,
        value_size: usize,
        user_arg: *mut c_void,
    ),
>;

structs! {
    /// The table with the ten functions that 0.112 has after those of 0.90.
    PJRT_Api_Later (PJRT_Api_Later_STRUCT_SIZE) {
        base: PJRT_Api,
        PJRT_Device_GetAttributes: function!(PJRT_Device_GetAttributes_Args),
        PJRT_Client_Load: function!(PJRT_Client_Load_Args),
        PJRT_LoadedExecutable_AddressableDeviceLogicalIds:
            function!(PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args),
        PJRT_Buffer_Bitcast: function!(PJRT_Buffer_Bitcast_Args),
        PJRT_Error_ForEachPayload: function!(PJRT_Error_ForEachPayload_Args),
        PJRT_TopologyDescription_Fingerprint: function!(PJRT_TopologyDescription_Fingerprint_Args),
        PJRT_Executable_ParameterMemoryKinds: function!(PJRT_Executable_ParameterMemoryKinds_Args),
        PJRT_Device_ClearMemoryStats: function!(PJRT_Device_ClearMemoryStats_Args),
        PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace:
            function!(PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args),
        PJRT_TopologyDescription_GetMemorySpaceKindIds: function!(PJRT_TopologyDescription_GetMemorySpaceKindIds_Args),
    }

    PJRT_Device_GetAttributes_Args (PJRT_Device_GetAttributes_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
        attributes: *const PJRT_NamedValue,
        num_attributes: usize,
        device_attributes: *mut PJRT_DeviceAttributes,
        attributes_deleter: Option<unsafe extern "C" fn(attributes: *mut PJRT_DeviceAttributes)>,
    }

    PJRT_Client_Load_Args (PJRT_Client_Load_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        client: *mut PJRT_Client,
        executable: *mut PJRT_Executable,
        compile_options: *const c_char,
        compile_options_size: usize,
        loaded_executable: *mut PJRT_LoadedExecutable,
    }

    PJRT_LogicalDeviceIds (PJRT_LogicalDeviceIds_STRUCT_SIZE) {
        replica: c_int,
        partition: c_int,
    }

    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args
        (PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args_STRUCT_SIZE)
    {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_LoadedExecutable,
        addressable_device_logical_ids: *const PJRT_LogicalDeviceIds,
        num_addressable_device_logical_ids: usize,
    }

    PJRT_Buffer_Bitcast_Args (PJRT_Buffer_Bitcast_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        buffer: *mut PJRT_Buffer,
        element_type: PJRT_Buffer_Type,
        dims: *const i64,
        num_dims: usize,
        device_layout: *mut PJRT_Buffer_MemoryLayout,
        out_buffer: *mut PJRT_Buffer,
    }

    PJRT_Error_ForEachPayload_Args (PJRT_Error_ForEachPayload_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        error: *const PJRT_Error,
        visitor: PJRT_Error_PayloadVisitor,
        user_arg: *mut c_void,
    }

    PJRT_TopologyDescription_Fingerprint_Args (PJRT_TopologyDescription_Fingerprint_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        topology: *mut PJRT_TopologyDescription,
        fingerprint: u64,
    }

    PJRT_Executable_ParameterMemoryKinds_Args (PJRT_Executable_ParameterMemoryKinds_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        memory_kinds: *const *const c_char,
        memory_kind_sizes: *const usize,
    }

    PJRT_Device_ClearMemoryStats_Args (PJRT_Device_ClearMemoryStats_Args_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        device: *mut PJRT_Device,
    }

    PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args
        (PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args_STRUCT_SIZE)
    {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        topology: *mut PJRT_TopologyDescription,
        memory_space_kind_id: c_int,
        dims: *const i64,
        num_dims: usize,
        element_type: PJRT_Buffer_Type,
        layout: *mut PJRT_Buffer_MemoryLayout,
        serialized_shape: *const c_char,
        serialized_shape_size: usize,
        serialized_shape_deleter: Option<unsafe extern "C" fn(serialized_shape: *const c_char)>,
    }

    PJRT_TopologyDescription_GetMemorySpaceKindIds_Args
        (PJRT_TopologyDescription_GetMemorySpaceKindIds_Args_STRUCT_SIZE)
    {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        topology: *mut PJRT_TopologyDescription,
        memory_space_kind_ids: *const c_int,
        num_memory_space_kind_ids: usize,
    }

    PJRT_Client_CreateErrorBuffer_Args_Later (PJRT_Client_CreateErrorBuffer_Args_Later_STRUCT_SIZE) {
        base: PJRT_Client_CreateErrorBuffer_Args,
        payload: *const c_void,
        num_payload: usize,
    }

    PJRT_Device_MemoryStats_Args_Later (PJRT_Device_MemoryStats_Args_Later_STRUCT_SIZE) {
        base: PJRT_Device_MemoryStats_Args,
        peak_allocated_bytes: i64,
        peak_allocated_bytes_is_set: bool,
    }

    PJRT_Executable_DeserializeAndLoad_Args_Later (PJRT_Executable_DeserializeAndLoad_Args_Later_STRUCT_SIZE) {
        base: PJRT_Executable_DeserializeAndLoad_Args,
        load_options: *const c_void,
    }

    PJRT_Executable_GetCompiledMemoryStats_Args_Later
        (PJRT_Executable_GetCompiledMemoryStats_Args_Later_STRUCT_SIZE)
    {
        base: PJRT_Executable_GetCompiledMemoryStats_Args,
        total_allocation_bytes: i64,
        indefinite_allocations: i64,
        peak_unpadded_heap_bytes: i64,
    }

    PJRT_ExecuteOptions_Later (PJRT_ExecuteOptions_Later_STRUCT_SIZE) {
        base: PJRT_ExecuteOptions,
        multi_slice_config: *mut c_void,
        use_major_to_minor_data_layout_for_callbacks: bool,
        hlo_output_callbacks: *mut c_void,
        num_hlo_output_callbacks: usize,
    }

    PJRT_Layouts_Extension_Later (PJRT_Layouts_Extension_Later_STRUCT_SIZE) {
        base: PJRT_Layouts_Extension,
        PJRT_Layouts_PJRT_Executable_GetParameterLayouts:
            function!(PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args),
    }

    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args
        (PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args_STRUCT_SIZE)
    {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        layouts: *mut *mut PJRT_Layouts_MemoryLayout,
    }

    PJRT_Shardings_Extension (PJRT_Shardings_Extension_STRUCT_SIZE) {
        base: PJRT_Extension_Base,
        PJRT_Shardings_PJRT_Executable_ParameterShardings:
            function!(PJRT_Shardings_PJRT_Executable_ParameterShardings_Args),
        PJRT_Shardings_PJRT_Executable_OutputShardings:
            function!(PJRT_Shardings_PJRT_Executable_OutputShardings_Args),
    }

    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args
        (PJRT_Shardings_PJRT_Executable_ParameterShardings_Args_STRUCT_SIZE)
    {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_parameters: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }

    PJRT_Shardings_PJRT_Executable_OutputShardings_Args
        (PJRT_Shardings_PJRT_Executable_OutputShardings_Args_STRUCT_SIZE)
    {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        executable: *mut PJRT_Executable,
        num_outputs: usize,
        shardings: *const *const c_char,
        sharding_sizes: *const usize,
    }

    /// What the first word of every memory points to.
    PJRT_Memory_FunctionTable (PJRT_Memory_FunctionTable_STRUCT_SIZE) {
        struct_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        instance_struct_size: usize,
        get_user_data: Option<unsafe extern "C" fn(memory: *mut PJRT_Memory, key: *const c_void) -> *mut c_void>,
        set_user_data: Option<
            unsafe extern "C" fn(
                memory: *mut PJRT_Memory,
                key: *const c_void,
                data: *mut c_void,
                deleter: Option<unsafe extern "C" fn(data: *mut c_void)>,
            )
        >,
    }

    /// What the first word of every error points to.
    PJRT_Error_FunctionTable (PJRT_Error_FunctionTable_STRUCT_SIZE) {
        struct_size: usize,
        instance_size: usize,
        extension_start: *mut PJRT_Extension_Base,
        destroy: Option<unsafe extern "C" fn(error: *mut PJRT_Error)>,
        message: Option<
            unsafe extern "C" fn(error: *const PJRT_Error, message: *mut *const c_char, message_size: *mut usize)
        >,
        get_code: Option<unsafe extern "C" fn(error: *const PJRT_Error) -> PJRT_Error_Code>,
        for_each_payload: Option<
            unsafe extern "C" fn(error: *const PJRT_Error, visitor: PJRT_Error_PayloadVisitor, user_arg: *mut c_void)
        >,
    }
}
