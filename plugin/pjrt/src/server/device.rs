//! `PJRT_Device`.

use xla_ffi_sys::pjrt::{
    PJRT_Device_AddressableMemories_Args, PJRT_Device_DefaultMemory_Args, PJRT_Device_GetDescription_Args,
    PJRT_Device_IsAddressable_Args, PJRT_Device_LocalHardwareId_Args, PJRT_Device_MemoryStats_Args,
};
use xla_ffi_sys::pjrt_later::{
    PJRT_Device_ClearMemoryStats_Args, PJRT_Device_GetAttributes_Args, PJRT_Device_MemoryStats_Args_Later,
    PJRT_DeviceAttributes,
};

use super::client_object::DeviceObject;
use super::named_values::NamedValues;
use super::raw::{Object, object, release};
use super::slot::slot;
use crate::Client;

// SAFETY: the attributes of devices that callers give back are of this type only.
unsafe impl Object for NamedValues {
    type Raw = PJRT_DeviceAttributes;
}

unsafe extern "C" fn delete_attributes(attributes: *mut PJRT_DeviceAttributes) {
    // SAFETY: the caller gives back what it got.
    unsafe { release::<NamedValues>(attributes) };
}

slot! {
    /// `PJRT_Device_GetDescription`.
    fn description<P>(args: PJRT_Device_GetDescription_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        (*args).device_description = device.topology.descriptions[device.index].as_raw();
        Ok(())
    }

    /// `PJRT_Device_GetAttributes`.
    fn attributes<P>(args: PJRT_Device_GetAttributes_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        let values = device.topology.topology.devices[device.index].attributes.clone();
        let values = NamedValues::new(values);
        (*args).attributes = values.as_ptr();
        (*args).num_attributes = values.len();
        (*args).device_attributes = values.into_raw();
        (*args).attributes_deleter = Some(delete_attributes);
        Ok(())
    }

    /// `PJRT_Device_IsAddressable`.
    fn is_addressable<P>(args: PJRT_Device_IsAddressable_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        (*args).is_addressable = device.addressable;
        Ok(())
    }

    /// `PJRT_Device_LocalHardwareId`.
    fn local_hardware_id<P>(args: PJRT_Device_LocalHardwareId_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        (*args).local_hardware_id = device.local_hardware_id;
        Ok(())
    }

    /// `PJRT_Device_AddressableMemories`.
    fn memories<P>(args: PJRT_Device_AddressableMemories_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        if let Some(pointers) = device.memory_pointers.get() {
            (*args).memories = pointers.as_ptr();
            (*args).num_memories = pointers.len();
        }
        Ok(())
    }

    /// `PJRT_Device_DefaultMemory`.
    fn default_memory<P>(args: PJRT_Device_DefaultMemory_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        (*args).memory = device.owner()?.memories[device.default_memory].as_raw();
        Ok(())
    }

    /// `PJRT_Device_MemoryStats`. Every field is written: callers do not clear them.
    fn memory_stats<P>(args: PJRT_Device_MemoryStats_Args as PJRT_Device_MemoryStats_Args_Later) {
        let device: &DeviceObject<P> = object("device", (*args).base.device)?;
        let stats = device.owner()?.client.memory_stats(device.id)?;
        (*args).base.bytes_in_use = stats.bytes_in_use;
        macro_rules! optional {
            ($($field:ident $is_set:ident;)*) => {
                $(
                    (*args).base.$field = stats.$field.unwrap_or(0);
                    (*args).base.$is_set = stats.$field.is_some();
                )*
            };
        }
        optional! {
            peak_bytes_in_use peak_bytes_in_use_is_set;
            num_allocs num_allocs_is_set;
            largest_alloc_size largest_alloc_size_is_set;
            bytes_limit bytes_limit_is_set;
            bytes_reserved bytes_reserved_is_set;
            peak_bytes_reserved peak_bytes_reserved_is_set;
            bytes_reservable_limit bytes_reservable_limit_is_set;
            largest_free_block_bytes largest_free_block_bytes_is_set;
            pool_bytes pool_bytes_is_set;
            peak_pool_bytes peak_pool_bytes_is_set;
        }
        (*args).peak_allocated_bytes = 0;
        (*args).peak_allocated_bytes_is_set = false;
        Ok(())
    }

    /// `PJRT_Device_ClearMemoryStats`.
    fn clear_memory_stats<P>(args: PJRT_Device_ClearMemoryStats_Args) {
        let device: &DeviceObject<P> = object("device", (*args).device)?;
        device.owner()?.client.clear_memory_stats(device.id)
    }
}
