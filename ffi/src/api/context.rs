//! Services of a call's context: user data, streams, device memory, the thread pool.

use std::ffi::c_void;

use xla_ffi_sys::xla_ffi as sys;

use super::{HostApi, Slot};
use crate::Result;

impl HostApi<'_> {
    /// User data of a type, set by the caller of the program.
    pub(crate) fn user_data(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        type_id: &mut sys::XLA_FFI_TypeId,
    ) -> Result<*mut c_void> {
        let mut args = sys::XLA_FFI_InvokeContext_Get_Args {
            struct_size: sys::XLA_FFI_InvokeContext_Get_Args_STRUCT_SIZE as usize,
            ctx,
            type_id,
            ..Default::default()
        };
        // SAFETY: the same layout in every version.
        unsafe { self.call(Slot::ContextGet, &mut args)? };
        Ok(args.data)
    }

    /// The platform's stream.
    pub(crate) fn stream(self, ctx: *mut sys::XLA_FFI_InvokeContext) -> Result<*mut c_void> {
        let mut args = sys::XLA_FFI_Stream_Get_Args {
            struct_size: sys::XLA_FFI_Stream_Get_Args_STRUCT_SIZE as usize,
            ctx,
            ..Default::default()
        };
        // SAFETY: the same layout in every version.
        unsafe { self.call(Slot::StreamGet, &mut args)? };
        Ok(args.stream)
    }

    /// Device memory that the host frees after the call, or when freed.
    pub(crate) fn allocate(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        size: usize,
        alignment: usize,
    ) -> Result<*mut c_void> {
        let mut args = sys::XLA_FFI_DeviceMemory_Allocate_Args {
            struct_size: sys::XLA_FFI_DeviceMemory_Allocate_Args_STRUCT_SIZE as usize,
            ctx,
            size,
            alignment,
            ..Default::default()
        };
        // SAFETY: the same layout in every version.
        unsafe { self.call(Slot::DeviceMemoryAllocate, &mut args)? };
        Ok(args.data)
    }

    /// Frees device memory.
    ///
    /// # Safety
    /// `data` came from [`allocate`](Self::allocate) with this context and size, and is not used again.
    pub(crate) unsafe fn free(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        size: usize,
        data: *mut c_void,
    ) -> Result<()> {
        let mut args = sys::XLA_FFI_DeviceMemory_Free_Args {
            struct_size: sys::XLA_FFI_DeviceMemory_Free_Args_STRUCT_SIZE as usize,
            ctx,
            size,
            data,
            ..Default::default()
        };
        // SAFETY: the same layout in every version.
        unsafe { self.call(Slot::DeviceMemoryFree, &mut args) }
    }

    /// Runs a task on the host's thread pool.
    ///
    /// # Safety
    /// `task` may be called with `data` once, on any thread, at any time from now on.
    pub(crate) unsafe fn schedule(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        task: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<()> {
        let mut args = sys::XLA_FFI_ThreadPool_Schedule_Args {
            struct_size: sys::XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE as usize,
            ctx,
            task: Some(task),
            data,
            ..Default::default()
        };
        // SAFETY: the same layout in every version.
        unsafe { self.call(Slot::ThreadPoolSchedule, &mut args) }
    }

    /// The number of threads in the host's thread pool.
    pub(crate) fn num_threads(self, ctx: *mut sys::XLA_FFI_InvokeContext) -> Result<i64> {
        if self.shift(Slot::ThreadPoolNumThreads) != 0 {
            return Err(self.missing(Slot::ThreadPoolNumThreads));
        }
        let mut threads = 0i64;
        let mut args = sys::XLA_FFI_ThreadPool_NumThreads_Args {
            struct_size: sys::XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE as usize,
            ctx,
            num_threads: &mut threads,
            ..Default::default()
        };
        // SAFETY: the same layout in every version that has it.
        unsafe { self.call(Slot::ThreadPoolNumThreads, &mut args)? };
        Ok(threads)
    }

    /// The id of the program's run.
    pub(crate) fn run_id(self, ctx: *mut sys::XLA_FFI_InvokeContext) -> Result<i64> {
        let mut args = sys::XLA_FFI_RunId_Get_Args {
            struct_size: sys::XLA_FFI_RunId_Get_Args_STRUCT_SIZE as usize,
            ctx,
            ..Default::default()
        };
        // SAFETY: the same layout in every version that has it.
        unsafe { self.call(Slot::RunId, &mut args)? };
        Ok(args.run_id)
    }

    /// The device's number.
    pub(crate) fn device_ordinal(self, ctx: *mut sys::XLA_FFI_InvokeContext) -> Result<i32> {
        let mut args = sys::XLA_FFI_DeviceOrdinal_Get_Args {
            struct_size: sys::XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE as usize,
            ctx,
            ..Default::default()
        };
        // SAFETY: the same layout in every version that has it.
        unsafe { self.call(Slot::DeviceOrdinal, &mut args)? };
        Ok(args.device_ordinal)
    }

    /// An extension of the context; null if the host does not offer it.
    pub(crate) fn find_extension(
        self,
        ctx: *mut sys::XLA_FFI_InvokeContext,
        extension_type: i64,
    ) -> Result<*const sys::XLA_FFI_Extension> {
        let mut args = sys::XLA_FFI_InvokeContext_FindExtension_Args {
            struct_size: sys::XLA_FFI_InvokeContext_FindExtension_Args_STRUCT_SIZE as usize,
            ctx,
            extension_type,
            ..Default::default()
        };
        // SAFETY: the layout since API 0.4.
        unsafe { self.call(Slot::FindExtension, &mut args)? };
        Ok(args.extension)
    }

    /// The options of this execution; null if there are none.
    pub(crate) fn custom_options(self, ctx: *mut sys::XLA_FFI_InvokeContext) -> Result<*const sys::XLA_FFI_Attrs> {
        let mut args = sys::XLA_FFI_CustomOptions_Get_Args {
            struct_size: sys::XLA_FFI_CustomOptions_Get_Args_STRUCT_SIZE as usize,
            ctx,
            ..Default::default()
        };
        // SAFETY: the layout since API 0.5.
        unsafe { self.call(Slot::CustomOptions, &mut args)? };
        Ok(args.attrs)
    }
}
