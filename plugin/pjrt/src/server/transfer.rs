//! Transfers between host, devices and memories.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use xla_ffi_sys::pjrt::{
    PJRT_Buffer_CopyToDevice_Args, PJRT_Buffer_CopyToMemory_Args, PJRT_Buffer_ToHostBuffer_Args, PJRT_Buffer_Type,
    PJRT_Client_BufferFromHostBuffer_Args, PJRT_Client_CreateErrorBuffer_Args,
    PJRT_Client_CreateViewOfDeviceBuffer_Args, PJRT_Device, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
    PJRT_Memory,
};
use xla_ffi_sys::pjrt_later::PJRT_Client_CreateErrorBuffer_Args_Later;

use super::buffer_object::{BufferObject, BufferOf};
use super::client_object::{ClientHandle, ClientObject, DeviceObject, MemoryObject, Owned};
use super::raw::{Object, array, layout, object, text};
use super::slot::{guard, slot};
use super::{error, limits};
use crate::{
    Buffer, Client, DeviceId, ElementType, Error, Event, HostDestination, HostSource, LentMemory, MemoryId, Platform,
    Result,
};

/// Copies to the host once the contents are there.
fn copy_to_host<P: Platform>(source: Arc<BufferOf<P>>, ready: &Event, destination: HostDestination) -> Event {
    let copy = move || guard(|| Ok(source.copy_to_host(destination))).unwrap_or_else(Event::failed);
    match ready.outcome() {
        Some(Ok(())) => copy(),
        Some(Err(error)) => Event::failed(error),
        None => {
            let (promise, done) = Event::pending();
            ready.on_ready(move |outcome| match outcome {
                Ok(()) => copy().on_ready(move |outcome| promise.complete(outcome)),
                Err(error) => promise.complete(Err(error)),
            });
            done
        }
    }
}

/// The device and the memory of a transfer; the caller gives at least one.
///
/// # Safety
/// Each is null, or one of this plugin.
unsafe fn place<P: Platform>(
    owner: &ClientObject<P>,
    device: *mut PJRT_Device,
    memory: *mut PJRT_Memory,
) -> Result<(DeviceId, MemoryId)> {
    // SAFETY: by the contract above.
    unsafe {
        match (device.is_null(), memory.is_null()) {
            (true, true) => Err(Error::invalid_argument("both `device` and `memory` are null; pass one of them")),
            (false, true) => {
                let device: &DeviceObject<P> = owner.own("device", device)?;
                Ok((device.id, owner.memories[device.default_memory].description.id))
            }
            (true, false) => {
                let memory: &MemoryObject<P> = owner.own("memory", memory)?;
                Ok((owner.devices[memory.first_device].id, memory.description.id))
            }
            (false, false) => {
                let memory: &MemoryObject<P> = owner.own("memory", memory)?;
                let device: &DeviceObject<P> = owner.own("device", device)?;
                if !device.memories.iter().any(|&place| owner.memories[place].description.id == memory.description.id) {
                    let message = format!("{} is not a memory of {}", memory.name(), device.name());
                    return Err(Error::invalid_argument(message));
                }
                Ok((device.id, memory.description.id))
            }
        }
    }
}

/// An element type of the C API.
fn known(element_type: PJRT_Buffer_Type) -> Result<ElementType> {
    let element_type = ElementType(element_type);
    match element_type.dtype() {
        Some(_) => Ok(element_type),
        None => Err(Error::invalid_argument(format!("unknown element type {element_type}"))),
    }
}

slot! {
    /// `PJRT_Client_BufferFromHostBuffer`.
    fn from_host<P>(args: PJRT_Client_BufferFromHostBuffer_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let dims = array("dims", (*args).dims, (*args).num_dims, limits::RANK)?;
        let strides = array("byte_strides", (*args).byte_strides, (*args).num_byte_strides, dims.len())?;
        let (device, memory) = place::<P>(owner, (*args).device, (*args).memory)?;
        let element_type = known((*args).type_)?;
        let layout = layout((*args).device_layout, dims.len())?;
        let strides = Some(strides).filter(|strides| !strides.is_empty());
        let lease = (*args).host_buffer_semantics != PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
        let (source, done) = HostSource::from_raw((*args).data.cast(), element_type, dims, strides, lease)?;
        let buffer = owner.client.buffer_from_host(source, device, memory, layout.as_ref())?;
        (*args).buffer = BufferObject::new(owner, buffer)?.into_raw();
        (*args).done_with_host_buffer = done.into_raw();
        Ok(())
    }

    /// `PJRT_Client_CreateViewOfDeviceBuffer`.
    fn view<P>(args: PJRT_Client_CreateViewOfDeviceBuffer_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let dims = array("dims", (*args).dims, (*args).num_dims, limits::RANK)?;
        let (device, memory) = place::<P>(owner, (*args).device, (*args).memory)?;
        let element_type = known((*args).element_type)?;
        let layout = layout((*args).layout, dims.len())?;
        let len = HostDestination::size_of(element_type, dims)?;
        if (*args).device_buffer_ptr.is_null() && len > 0 {
            return Err(Error::invalid_argument("`device_buffer_ptr` is null, but the array is not empty"));
        }
        let (on_delete, argument) = ((*args).on_delete_callback, (*args).on_delete_callback_arg);
        let (lent, accepted) = LentMemory::from_raw((*args).device_buffer_ptr, len, on_delete, argument);
        let buffer = owner.client.view_of(lent, element_type, dims, layout.as_ref(), device, memory)?;
        let buffer = BufferObject::new(owner, buffer)?;
        accepted.store(true, Ordering::Release);
        (*args).buffer = buffer.into_raw();
        Ok(())
    }

    /// `PJRT_Buffer_ToHostBuffer`.
    fn to_host<P>(args: PJRT_Buffer_ToHostBuffer_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).src)?;
        if (*args).dst.is_null() {
            (*args).dst_size = HostDestination::size_of(buffer.shape.element_type, buffer.unpadded_dims()?)?;
            return Ok(());
        }
        let source = buffer.get("ToLiteral()")?;
        let dims = buffer.unpadded_dims()?;
        let layout = layout((*args).host_layout, dims.len())?;
        let layout = layout.as_ref().unwrap_or(&buffer.shape.layout);
        let (data, size) = ((*args).dst.cast(), (*args).dst_size);
        let destination = HostDestination::from_raw(data, size, buffer.shape.element_type, dims, layout)?;
        (*args).event = copy_to_host::<P>(source, &buffer.ready, destination).into_raw();
        Ok(())
    }

    /// `PJRT_Buffer_CopyToDevice`.
    fn to_device<P>(args: PJRT_Buffer_CopyToDevice_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let device: &DeviceObject<P> = object("device", (*args).dst_device)?;
        let (owner, source) = (device.owner()?, buffer.get("CopyToDevice()")?);
        let memory = owner.memories[device.default_memory].description.id;
        let copy = owner.client.copy_buffer(&source, device.id, memory)?;
        (*args).dst_buffer = BufferObject::new(&owner, copy)?.into_raw();
        Ok(())
    }

    /// `PJRT_Buffer_CopyToMemory`.
    fn to_memory<P>(args: PJRT_Buffer_CopyToMemory_Args) {
        let buffer: &BufferObject<P> = object("buffer", (*args).buffer)?;
        let memory: &MemoryObject<P> = object("memory", (*args).dst_memory)?;
        let (owner, source) = (memory.owner()?, buffer.get("CopyToMemorySpace()")?);
        let device = owner.devices[memory.first_device].id;
        let copy = owner.client.copy_buffer(&source, device, memory.description.id)?;
        (*args).dst_buffer = BufferObject::new(&owner, copy)?.into_raw();
        Ok(())
    }

    /// `PJRT_Client_CreateErrorBuffer`.
    fn error_buffer<P>(args: PJRT_Client_CreateErrorBuffer_Args as PJRT_Client_CreateErrorBuffer_Args_Later) {
        let args = &raw mut (*args).base;
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let memory: &MemoryObject<P> = owner.own("memory", (*args).memory)?;
        let message = text("error_message", (*args).error_message, (*args).error_message_size, limits::MESSAGE)?;
        let Err(error) = error::outcome((*args).error_code, message) else {
            return Err(Error::invalid_argument("`error_code` is OK; an error buffer needs an error"));
        };
        let (element_type, device) = (ElementType((*args).shape_element_type), owner.devices[memory.first_device].id);
        let dims = array("dims", (*args).shape_dims, (*args).shape_num_dims, limits::RANK)?;
        let buffer = owner.client.error_buffer(error, element_type, dims, device, memory.description.id)?;
        (*args).buffer = BufferObject::new(owner, buffer)?.into_raw();
        Ok(())
    }
}
