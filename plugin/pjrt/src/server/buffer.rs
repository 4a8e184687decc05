//! `PJRT_Buffer`, but for transfers.

use std::ffi::c_void;
use std::ptr::null;

use xla_ffi_sys::pjrt::{
    PJRT_Buffer_DecreaseExternalReferenceCount_Args, PJRT_Buffer_Delete_Args, PJRT_Buffer_Destroy_Args,
    PJRT_Buffer_Device_Args, PJRT_Buffer_Dimensions_Args, PJRT_Buffer_DynamicDimensionIndices_Args,
    PJRT_Buffer_ElementType_Args, PJRT_Buffer_GetMemoryLayout_Args, PJRT_Buffer_IncreaseExternalReferenceCount_Args,
    PJRT_Buffer_IsDeleted_Args, PJRT_Buffer_IsOnCpu_Args, PJRT_Buffer_Memory_Args,
    PJRT_Buffer_OnDeviceSizeInBytes_Args, PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_UnpaddedDimensions_Args, PJRT_Buffer_UnsafePointer_Args,
};

use super::buffer_object::BufferObject;
use super::layouts::LayoutArrays;
use super::raw::{Object, object, release};
use super::slot::slot;
use crate::{Buffer, Error, Event, Platform, Result};

/// Where the contents lie, once they are there.
fn address<P: Platform>(buffer: &BufferObject<P>, what: &str) -> Result<usize> {
    let held = buffer.get(what)?;
    P::wait(&buffer.ready)?;
    held.address()
}

slot! {
    /// `PJRT_Buffer_Destroy`.
    fn destroy<P>(args: PJRT_Buffer_Destroy_Args) {
        release::<BufferObject<P>>((*args).buffer);
        Ok(())
    }

    /// `PJRT_Buffer_ElementType`.
    fn element_type<P>(args: PJRT_Buffer_ElementType_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).type_ = buffer.shape.element_type.0;
        Ok(())
    }

    /// `PJRT_Buffer_Dimensions`.
    fn dimensions<P>(args: PJRT_Buffer_Dimensions_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).dims = buffer.shape.dims.as_ptr();
        (*args).num_dims = buffer.shape.dims.len();
        Ok(())
    }

    /// `PJRT_Buffer_UnpaddedDimensions`. Sizes of dynamic dimensions are there when the contents are.
    fn unpadded_dimensions<P>(args: PJRT_Buffer_UnpaddedDimensions_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let dims = buffer.unpadded_dims()?;
        (*args).unpadded_dims = dims.as_ptr();
        (*args).num_dims = dims.len();
        Ok(())
    }

    /// `PJRT_Buffer_DynamicDimensionIndices`.
    fn dynamic_dimension_indices<P>(args: PJRT_Buffer_DynamicDimensionIndices_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let dims = &buffer.shape.dynamic_dims;
        (*args).dynamic_dim_indices = if dims.is_empty() { null() } else { dims.as_ptr() };
        (*args).num_dynamic_dims = dims.len();
        Ok(())
    }

    /// `PJRT_Buffer_GetMemoryLayout`.
    fn memory_layout<P>(args: PJRT_Buffer_GetMemoryLayout_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let arrays = buffer.layout_arrays.get_or_init(|| Box::new(LayoutArrays::new(&buffer.shape.layout)));
        (*args).layout = arrays.raw();
        Ok(())
    }

    /// `PJRT_Buffer_OnDeviceSizeInBytes`.
    fn size_in_bytes<P>(args: PJRT_Buffer_OnDeviceSizeInBytes_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).on_device_size_in_bytes = buffer.get("GetOnDeviceSizeInBytes()")?.size_in_bytes()?;
        Ok(())
    }

    /// `PJRT_Buffer_Device`.
    fn device<P>(args: PJRT_Buffer_Device_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).device = buffer.owner.devices[buffer.device].as_raw();
        Ok(())
    }

    /// `PJRT_Buffer_Memory`.
    fn memory<P>(args: PJRT_Buffer_Memory_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).memory = buffer.owner.memories[buffer.memory].as_raw();
        Ok(())
    }

    /// `PJRT_Buffer_Delete`.
    fn delete<P>(args: PJRT_Buffer_Delete_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        buffer.delete();
        Ok(())
    }

    /// `PJRT_Buffer_IsDeleted`.
    fn is_deleted<P>(args: PJRT_Buffer_IsDeleted_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).is_deleted = buffer.is_deleted();
        Ok(())
    }

    /// `PJRT_Buffer_IsOnCpu`.
    fn is_on_cpu<P>(args: PJRT_Buffer_IsOnCpu_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).is_on_cpu = buffer.is_on_cpu;
        Ok(())
    }

    /// `PJRT_Buffer_ReadyEvent`. It never fails for a buffer: callers abort if it does.
    fn ready_event<P>(args: PJRT_Buffer_ReadyEvent_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let deleted = || Error::invalid_argument("GetReadyFuture() called on deleted or donated buffer");
        let event = if buffer.is_deleted() { Event::failed(deleted()) } else { buffer.ready.clone() };
        (*args).event = event.into_raw();
        Ok(())
    }

    /// `PJRT_Buffer_UnsafePointer`.
    fn unsafe_pointer<P>(args: PJRT_Buffer_UnsafePointer_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).buffer_pointer = address(buffer, "UnsafeBufferPointer()")?;
        Ok(())
    }

    /// `PJRT_Buffer_IncreaseExternalReferenceCount`.
    fn increase_external_references<P>(args: PJRT_Buffer_IncreaseExternalReferenceCount_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        buffer.lock().increase()
    }

    /// `PJRT_Buffer_DecreaseExternalReferenceCount`.
    fn decrease_external_references<P>(args: PJRT_Buffer_DecreaseExternalReferenceCount_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let last = buffer.lock().decrease()?;
        drop(last);
        Ok(())
    }

    /// `PJRT_Buffer_OpaqueDeviceMemoryDataPointer`.
    fn data_pointer<P>(args: PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        (*args).device_memory_ptr = address(buffer, "AcquireExternalReference()")? as *mut c_void;
        Ok(())
    }
}
