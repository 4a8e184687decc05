//! The function tables.

use std::ffi::c_int;
use std::ptr::{from_ref, null_mut};

use xla_ffi_sys::pjrt::{
    PJRT_Api, PJRT_Api_Version, PJRT_Api_Version_STRUCT_SIZE, PJRT_Error, PJRT_Extension_Base, PJRT_Extension_Type,
    PJRT_Extension_Type_FFI, PJRT_Extension_Type_Layouts, PJRT_Extension_Type_MemoryDescriptions, PJRT_FFI_Extension,
    PJRT_FFI_Extension_STRUCT_SIZE, PJRT_Layouts_Extension, PJRT_MemoryDescriptions_Extension,
    PJRT_MemoryDescriptions_Extension_STRUCT_SIZE,
};
use xla_ffi_sys::pjrt_later::{
    PJRT_API_LATER_MINOR, PJRT_Api_Later, PJRT_Api_Later_STRUCT_SIZE, PJRT_Extension_Type_Shardings,
    PJRT_Layouts_Extension_Later, PJRT_Layouts_Extension_Later_STRUCT_SIZE, PJRT_Shardings_Extension,
    PJRT_Shardings_Extension_STRUCT_SIZE,
};

use super::{
    buffer, client, device, error, event, executable, execute, ffi, layouts, memory, memory_descriptions, plugin,
    shardings, topology, transfer,
};
use crate::{Error, Platform};

/// The function table of a platform: what `GetPjrtApi` returns. It lives as long as the process.
///
/// Its version is 0.112 for every caller: older ones use a part of it.
pub fn api<P: Platform>() -> *const PJRT_Api {
    from_ref(Table::<P>::API).cast()
}

/// Exports `GetPjrtApi`, which frameworks look up in a plugin's library, for a [`Platform`]: the only line that a crate
/// of type `cdylib` needs beside the platform. The example `toy_plugin` is such a crate.
#[macro_export]
macro_rules! export_platform {
    ($platform:ty) => {
        /// The PJRT plugin's entry point.
        #[unsafe(no_mangle)]
        pub extern "C" fn GetPjrtApi() -> *const $crate::PJRT_Api {
            $crate::api::<$platform>()
        }
    };
}

const MAJOR: c_int = 0;

struct Table<P>(P);

/// The error of functions that no platform has.
#[cold]
fn unimplemented(name: &str) -> *mut PJRT_Error {
    error::into_raw(Err(Error::unimplemented(format!("{name} is not implemented by this plugin"))))
}

/// A struct of functions: `name = function` for those that are there, `name` for those that answer `UNIMPLEMENTED`.
macro_rules! functions {
    ($struct:ident { $($field:ident: $value:expr,)* } $($name:ident $(= $function:expr)?,)*) => {
        $struct { $($field: $value,)* $($name: functions!(@ $name $(= $function)?),)* }
    };
    (@ $name:ident = $function:expr) => { Some($function) };
    (@ $name:ident) => {{
        unsafe extern "C" fn stub<A>(_: *mut A) -> *mut PJRT_Error {
            unimplemented(stringify!($name))
        }
        Some(stub)
    }};
}

const fn extension(
    struct_size: usize,
    type_: PJRT_Extension_Type,
    next: *mut PJRT_Extension_Base,
) -> PJRT_Extension_Base {
    PJRT_Extension_Base { struct_size, type_, next }
}

impl<P: Platform> Table<P> {
    const MEMORY_DESCRIPTIONS: &'static PJRT_MemoryDescriptions_Extension = &functions! {
        PJRT_MemoryDescriptions_Extension {
            base: extension(
                PJRT_MemoryDescriptions_Extension_STRUCT_SIZE as usize,
                PJRT_Extension_Type_MemoryDescriptions,
                null_mut(),
            ),
        }
        PJRT_DeviceDescription_MemoryDescriptions = memory_descriptions::memory_descriptions,
        PJRT_MemoryDescription_Kind = memory_descriptions::kind,
    };

    const SHARDINGS: &'static PJRT_Shardings_Extension = &functions! {
        PJRT_Shardings_Extension {
            base: extension(
                PJRT_Shardings_Extension_STRUCT_SIZE,
                PJRT_Extension_Type_Shardings,
                from_ref(Self::MEMORY_DESCRIPTIONS).cast_mut().cast(),
            ),
        }
        PJRT_Shardings_PJRT_Executable_ParameterShardings = shardings::of_parameters::<P>,
        PJRT_Shardings_PJRT_Executable_OutputShardings = shardings::of_outputs::<P>,
    };

    const FFI: &'static PJRT_FFI_Extension = &functions! {
        PJRT_FFI_Extension {
            base: extension(
                PJRT_FFI_Extension_STRUCT_SIZE as usize,
                PJRT_Extension_Type_FFI,
                from_ref(Self::SHARDINGS).cast_mut().cast(),
            ),
        }
        type_register = ffi::register_type,
        user_data_add = ffi::add_user_data,
        register_handler = ffi::register_handler::<P>,
    };

    const LAYOUTS: &'static PJRT_Layouts_Extension_Later = &functions! {
        PJRT_Layouts_Extension_Later {
            base: functions! {
                PJRT_Layouts_Extension {
                    base: extension(
                        PJRT_Layouts_Extension_Later_STRUCT_SIZE,
                        PJRT_Extension_Type_Layouts,
                        from_ref(Self::FFI).cast_mut().cast(),
                    ),
                }
                PJRT_Layouts_MemoryLayout_Destroy = layouts::destroy,
                PJRT_Layouts_MemoryLayout_Serialize = layouts::serialize,
                PJRT_Layouts_PJRT_Client_GetDefaultLayout = layouts::of_client::<P>,
                PJRT_Layouts_PJRT_Buffer_MemoryLayout = layouts::of_buffer::<P>,
                PJRT_Layouts_PJRT_Topology_GetDefaultLayout = layouts::of_topology::<P>,
                PJRT_Layouts_PJRT_Executable_GetOutputLayouts = layouts::of_outputs::<P>,
            },
        }
        PJRT_Layouts_PJRT_Executable_GetParameterLayouts = layouts::of_parameters::<P>,
    };

    const API: &'static PJRT_Api_Later = &functions! {
        PJRT_Api_Later { base: Self::BASE, }
        PJRT_Device_GetAttributes = device::attributes::<P>,
        PJRT_Client_Load,
        PJRT_LoadedExecutable_AddressableDeviceLogicalIds = executable::logical_ids::<P>,
        PJRT_Buffer_Bitcast,
        PJRT_Error_ForEachPayload = error::for_each_payload,
        PJRT_TopologyDescription_Fingerprint = topology::fingerprint::<P>,
        PJRT_Executable_ParameterMemoryKinds = executable::parameter_kinds::<P>,
        PJRT_Device_ClearMemoryStats = device::clear_memory_stats::<P>,
        PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace,
        PJRT_TopologyDescription_GetMemorySpaceKindIds = topology::kind_ids,
    };

    const BASE: PJRT_Api = functions! {
        PJRT_Api {
            struct_size: PJRT_Api_Later_STRUCT_SIZE,
            extension_start: from_ref(Self::LAYOUTS).cast_mut().cast(),
            pjrt_api_version: PJRT_Api_Version {
                struct_size: PJRT_Api_Version_STRUCT_SIZE as usize,
                extension_start: null_mut(),
                major_version: MAJOR,
                minor_version: PJRT_API_LATER_MINOR,
            },
        }
        PJRT_Error_Destroy = error::destroy,
        PJRT_Error_Message = error::message,
        PJRT_Error_GetCode = error::get_code,
        PJRT_Plugin_Initialize = plugin::initialize::<P>,
        PJRT_Plugin_Attributes = plugin::attributes::<P>,
        PJRT_Event_Destroy = event::destroy,
        PJRT_Event_IsReady = event::is_ready,
        PJRT_Event_Error = event::error_of,
        PJRT_Event_Await = event::wait,
        PJRT_Event_OnReady = event::on_ready,
        PJRT_Client_Create = client::create::<P>,
        PJRT_Client_Destroy = client::destroy::<P>,
        PJRT_Client_PlatformName = client::platform_name::<P>,
        PJRT_Client_ProcessIndex = client::process_index::<P>,
        PJRT_Client_PlatformVersion = client::platform_version::<P>,
        PJRT_Client_Devices = client::devices::<P>,
        PJRT_Client_AddressableDevices = client::addressable_devices::<P>,
        PJRT_Client_LookupDevice = client::lookup_device::<P>,
        PJRT_Client_LookupAddressableDevice = client::lookup_addressable_device::<P>,
        PJRT_Client_AddressableMemories = client::addressable_memories::<P>,
        PJRT_Client_Compile = executable::compile::<P>,
        PJRT_Client_DefaultDeviceAssignment = client::default_device_assignment::<P>,
        PJRT_Client_BufferFromHostBuffer = transfer::from_host::<P>,
        PJRT_DeviceDescription_Id = topology::device_id,
        PJRT_DeviceDescription_ProcessIndex = topology::device_process_index,
        PJRT_DeviceDescription_Attributes = topology::device_attributes,
        PJRT_DeviceDescription_Kind = topology::device_kind,
        PJRT_DeviceDescription_DebugString = topology::device_debug_string,
        PJRT_DeviceDescription_ToString = topology::device_to_string,
        PJRT_Device_GetDescription = device::description::<P>,
        PJRT_Device_IsAddressable = device::is_addressable::<P>,
        PJRT_Device_LocalHardwareId = device::local_hardware_id::<P>,
        PJRT_Device_AddressableMemories = device::memories::<P>,
        PJRT_Device_DefaultMemory = device::default_memory::<P>,
        PJRT_Device_MemoryStats = device::memory_stats::<P>,
        PJRT_Memory_Id = memory::id::<P>,
        PJRT_Memory_Kind = memory::kind::<P>,
        PJRT_Memory_DebugString = memory::debug_string::<P>,
        PJRT_Memory_ToString = memory::to_string::<P>,
        PJRT_Memory_AddressableByDevices = memory::devices::<P>,
        PJRT_Executable_Destroy = executable::destroy::<P>,
        PJRT_Executable_Name = executable::name::<P>,
        PJRT_Executable_NumReplicas = executable::num_replicas::<P>,
        PJRT_Executable_NumPartitions = executable::num_partitions::<P>,
        PJRT_Executable_NumOutputs = executable::num_outputs::<P>,
        PJRT_Executable_SizeOfGeneratedCodeInBytes = executable::code_size::<P>,
        PJRT_Executable_GetCostAnalysis = executable::cost_analysis::<P>,
        PJRT_Executable_OutputMemoryKinds = executable::output_kinds::<P>,
        PJRT_Executable_OptimizedProgram = executable::optimized_program::<P>,
        PJRT_Executable_Serialize = executable::serialize::<P>,
        PJRT_LoadedExecutable_Destroy = executable::destroy_loaded::<P>,
        PJRT_LoadedExecutable_GetExecutable = executable::of_loaded::<P>,
        PJRT_LoadedExecutable_AddressableDevices = executable::devices::<P>,
        PJRT_LoadedExecutable_Delete = executable::delete::<P>,
        PJRT_LoadedExecutable_IsDeleted = executable::is_deleted::<P>,
        PJRT_LoadedExecutable_Execute = execute::execute::<P>,
        PJRT_Executable_DeserializeAndLoad = executable::deserialize::<P>,
        PJRT_LoadedExecutable_Fingerprint = executable::loaded_fingerprint::<P>,
        PJRT_Buffer_Destroy = buffer::destroy::<P>,
        PJRT_Buffer_ElementType = buffer::element_type::<P>,
        PJRT_Buffer_Dimensions = buffer::dimensions::<P>,
        PJRT_Buffer_UnpaddedDimensions = buffer::unpadded_dimensions::<P>,
        PJRT_Buffer_DynamicDimensionIndices = buffer::dynamic_dimension_indices::<P>,
        PJRT_Buffer_GetMemoryLayout = buffer::memory_layout::<P>,
        PJRT_Buffer_OnDeviceSizeInBytes = buffer::size_in_bytes::<P>,
        PJRT_Buffer_Device = buffer::device::<P>,
        PJRT_Buffer_Memory = buffer::memory::<P>,
        PJRT_Buffer_Delete = buffer::delete::<P>,
        PJRT_Buffer_IsDeleted = buffer::is_deleted::<P>,
        PJRT_Buffer_CopyToDevice = transfer::to_device::<P>,
        PJRT_Buffer_ToHostBuffer = transfer::to_host::<P>,
        PJRT_Buffer_IsOnCpu = buffer::is_on_cpu::<P>,
        PJRT_Buffer_ReadyEvent = buffer::ready_event::<P>,
        PJRT_Buffer_UnsafePointer = buffer::unsafe_pointer::<P>,
        PJRT_Buffer_IncreaseExternalReferenceCount = buffer::increase_external_references::<P>,
        PJRT_Buffer_DecreaseExternalReferenceCount = buffer::decrease_external_references::<P>,
        PJRT_Buffer_OpaqueDeviceMemoryDataPointer = buffer::data_pointer::<P>,
        PJRT_CopyToDeviceStream_Destroy,
        PJRT_CopyToDeviceStream_AddChunk,
        PJRT_CopyToDeviceStream_TotalBytes,
        PJRT_CopyToDeviceStream_GranuleSize,
        PJRT_CopyToDeviceStream_CurrentBytes,
        PJRT_TopologyDescription_Create = topology::create::<P>,
        PJRT_TopologyDescription_Destroy = topology::destroy,
        PJRT_TopologyDescription_PlatformName = topology::platform_name::<P>,
        PJRT_TopologyDescription_PlatformVersion = topology::platform_version::<P>,
        PJRT_TopologyDescription_GetDeviceDescriptions = topology::descriptions,
        PJRT_TopologyDescription_Serialize = topology::serialize,
        PJRT_TopologyDescription_Attributes = topology::attributes,
        PJRT_Compile = executable::compile_for_topology::<P>,
        PJRT_Executable_OutputElementTypes = executable::output_types::<P>,
        PJRT_Executable_OutputDimensions = executable::output_dims::<P>,
        PJRT_Buffer_CopyToMemory = transfer::to_memory::<P>,
        PJRT_Client_CreateViewOfDeviceBuffer = transfer::view::<P>,
        PJRT_Executable_Fingerprint = executable::executable_fingerprint::<P>,
        PJRT_Client_TopologyDescription = client::topology::<P>,
        PJRT_Executable_GetCompiledMemoryStats = executable::memory_stats::<P>,
        PJRT_Memory_Kind_Id = memory::kind_id::<P>,
        PJRT_ExecuteContext_Create = execute::create_context,
        PJRT_ExecuteContext_Destroy = execute::destroy_context,
        PJRT_Buffer_CopyRawToHost,
        PJRT_AsyncHostToDeviceTransferManager_Destroy,
        PJRT_AsyncHostToDeviceTransferManager_TransferData,
        PJRT_Client_CreateBuffersForAsyncHostToDevice,
        PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer,
        PJRT_AsyncHostToDeviceTransferManager_Device,
        PJRT_AsyncHostToDeviceTransferManager_BufferCount,
        PJRT_AsyncHostToDeviceTransferManager_BufferSize,
        PJRT_AsyncHostToDeviceTransferManager_SetBufferError,
        PJRT_AsyncHostToDeviceTransferManager_AddMetadata,
        PJRT_Client_DmaMap,
        PJRT_Client_DmaUnmap,
        PJRT_Client_CreateUninitializedBuffer,
        PJRT_Client_UpdateGlobalProcessInfo = client::update_process_info::<P>,
        PJRT_TopologyDescription_Deserialize = topology::deserialize,
        PJRT_Client_CreateAliasBuffer,
        PJRT_Client_FulfillAliasBuffer,
        PJRT_LoadedExecutable_GetDeviceAssignment = executable::device_assignment::<P>,
        PJRT_Client_CreateErrorBuffer = transfer::error_buffer::<P>,
        PJRT_AsyncHostToDeviceTransferManager_TransferLiteral,
        PJRT_Buffer_CopyRawToHostFuture,
        PJRT_Device_PoisonExecution,
        PJRT_Device_CreateAsyncTrackingEvent,
        PJRT_AsyncTrackingEvent_Destroy,
        PJRT_Executable_GetCompileOptions = executable::compile_options::<P>,
        PJRT_Buffer_DonateWithControlDependency,
        PJRT_Event_Create = event::create,
        PJRT_Event_Set = event::set,
    };
}
