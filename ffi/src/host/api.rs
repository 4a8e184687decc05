//! The API tables, one for each host version.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;

use xla_ffi_sys::{v0_1, xla_ffi as sys};

use super::{HostVersion, context, error, future, memory, pool, registry, state, types};
use crate::Error;

/// The API table of the newest host with API 0.`minor` that is not newer; see [`HostVersion::of_minor`].
pub fn api(minor: i32) -> &'static sys::XLA_FFI_Api {
    HostVersion::of_minor(minor).api()
}

pub(super) fn table(version: HostVersion) -> &'static sys::XLA_FFI_Api {
    &TABLES[version as usize].0
}

/// A table that never changes.
struct Table(sys::XLA_FFI_Api);

// SAFETY: the table is constant: nobody writes through its pointers, which are null.
unsafe impl Sync for Table {}

static TABLES: [Table; 7] = [
    Table(build::<{ HostVersion::V0_4_34 as u8 }>()),
    Table(build::<{ HostVersion::V0_4_38 as u8 }>()),
    Table(build::<{ HostVersion::V0_6 as u8 }>()),
    Table(build::<{ HostVersion::V0_8_1 as u8 }>()),
    Table(build::<{ HostVersion::V0_9_2 as u8 }>()),
    Table(build::<{ HostVersion::V0_11_1 as u8 }>()),
    Table(build::<{ HostVersion::V0_12 as u8 }>()),
];

/// Stands where an older host's table has ended, and other memory of the host follows.
unsafe extern "C" fn past_the_end(_args: *mut c_void) -> *mut sys::XLA_FFI_Error {
    error::into_raw(Error::internal("a function past the end of this host's API table was called"))
}

/// The function type of a slot, without its `Option`.
type Slot<Args> = unsafe extern "C" fn(*mut Args) -> *mut sys::XLA_FFI_Error;

/// A function in the slot of another one: both take one pointer to an args struct and return an error.
const fn moved<From, To>(function: Slot<From>) -> Option<Slot<To>> {
    // SAFETY: the types differ only in what the pointer argument points to, which the C ABI does not see.
    Some(unsafe { transmute::<Slot<From>, Slot<To>>(function) })
}

const fn build<const V: u8>() -> sys::XLA_FFI_Api {
    let version = HostVersion::from_index(V);
    let minor = version.minor();
    let mut api = sys::XLA_FFI_Api {
        struct_size: struct_size(version),
        extension_start: ptr::null_mut(),
        api_version: sys::XLA_FFI_Api_Version {
            struct_size: sys::XLA_FFI_Api_Version_STRUCT_SIZE as usize,
            extension_start: ptr::null_mut(),
            major_version: 0,
            minor_version: minor,
        },
        internal_api: ptr::null(),
        XLA_FFI_Error_Create: Some(error::create),
        XLA_FFI_Error_GetDetails: Some(if minor >= 4 { error::get_details } else { error::get_message }),
        XLA_FFI_Error_Destroy: Some(error::destroy),
        XLA_FFI_Handler_Register: Some(registry::register::<V>),
        XLA_FFI_Stream_Get: Some(context::stream_get),
        XLA_FFI_Type_Register: Some(types::register::<V>),
        XLA_FFI_InvokeContext_Get: Some(context::user_data_get),
        XLA_FFI_State_Set: match minor {
            ..=1 => moved::<v0_1::XLA_FFI_State_Set_Args, _>(state::set_with_deleter),
            2 => moved(state::set_stageless),
            3 => Some(state::set),
            4.. => Some(state::set_any),
        },
        XLA_FFI_State_Get: match minor {
            ..=2 => moved(state::get_stageless),
            3 => Some(state::get),
            4.. => Some(state::get_any),
        },
        XLA_FFI_DeviceMemory_Allocate: Some(memory::allocate),
        XLA_FFI_DeviceMemory_Free: Some(memory::free),
        XLA_FFI_ThreadPool_Schedule: Some(pool::schedule),
        XLA_FFI_ThreadPool_NumThreads: Some(pool::num_threads),
        XLA_FFI_Future_Create: Some(future::create),
        XLA_FFI_Future_SetAvailable: Some(future::set_available),
        XLA_FFI_Future_SetError: Some(future::set_error),
        XLA_FFI_RunId_Get: Some(context::run_id_get),
        XLA_FFI_DeviceOrdinal_Get: Some(context::device_ordinal_get),
        XLA_FFI_InvokeContext_FindExtension: Some(context::find_extension),
        XLA_FFI_CustomOptions_Get: Some(context::custom_options_get),
    };
    if minor < 5 {
        api.XLA_FFI_CustomOptions_Get = moved(past_the_end);
    }
    if minor < 4 {
        api.XLA_FFI_InvokeContext_FindExtension = moved(past_the_end);
    }
    if matches!(version, HostVersion::V0_4_34 | HostVersion::V0_4_38) {
        api.XLA_FFI_RunId_Get = moved(past_the_end);
        api.XLA_FFI_DeviceOrdinal_Get = moved(past_the_end);
    }
    if matches!(version, HostVersion::V0_4_34) {
        // `ThreadPool_NumThreads` was inserted later, which moved the futures.
        api.XLA_FFI_ThreadPool_NumThreads = moved(future::create);
        api.XLA_FFI_Future_Create = moved(future::set_available);
        api.XLA_FFI_Future_SetAvailable = moved(future::set_error);
        api.XLA_FFI_Future_SetError = moved(past_the_end);
    }
    api
}

/// The size that the host reports. Before jaxlib 0.6 it stayed that of an early table, up to `Stream_Get`.
const fn struct_size(version: HostVersion) -> usize {
    match version {
        HostVersion::V0_4_34 | HostVersion::V0_4_38 => 88,
        HostVersion::V0_6 | HostVersion::V0_8_1 | HostVersion::V0_9_2 => 192,
        HostVersion::V0_11_1 => 200,
        HostVersion::V0_12 => sys::XLA_FFI_Api_STRUCT_SIZE as usize,
    }
}
