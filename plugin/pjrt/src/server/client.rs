//! `PJRT_Client`, but for transfers and compilation.

use std::ffi::c_int;

use xla_ffi_sys::pjrt::{
    PJRT_Client_AddressableDevices_Args, PJRT_Client_AddressableMemories_Args, PJRT_Client_Create_Args,
    PJRT_Client_DefaultDeviceAssignment_Args, PJRT_Client_Destroy_Args, PJRT_Client_Devices_Args,
    PJRT_Client_LookupAddressableDevice_Args, PJRT_Client_LookupDevice_Args, PJRT_Client_PlatformName_Args,
    PJRT_Client_PlatformVersion_Args, PJRT_Client_ProcessIndex_Args, PJRT_Client_TopologyDescription_Args,
    PJRT_Client_UpdateGlobalProcessInfo_Args,
};

use super::client_object::{ClientHandle, ClientObject};
use super::named_values;
use super::raw::{Object, c_count, null, object, release};
use super::slot::slot;
use crate::{Client, DeviceId, Error};

slot! {
    /// `PJRT_Client_Create`.
    fn create<P>(args: PJRT_Client_Create_Args) {
        let options = named_values::read((*args).create_options, (*args).num_options)?;
        (*args).client = ClientHandle(ClientObject::<P>::new(P::create_client(&options)?)?).into_raw();
        Ok(())
    }

    /// `PJRT_Client_Destroy`.
    fn destroy<P>(args: PJRT_Client_Destroy_Args) {
        release::<ClientHandle<P>>((*args).client);
        Ok(())
    }

    /// `PJRT_Client_PlatformName`.
    fn platform_name<P>(args: PJRT_Client_PlatformName_Args) {
        (*args).platform_name = P::name().as_ptr().cast();
        (*args).platform_name_size = P::name().len();
        Ok(())
    }

    /// `PJRT_Client_PlatformVersion`.
    fn platform_version<P>(args: PJRT_Client_PlatformVersion_Args) {
        (*args).platform_version = P::version().as_ptr().cast();
        (*args).platform_version_size = P::version().len();
        Ok(())
    }

    /// `PJRT_Client_ProcessIndex`.
    fn process_index<P>(args: PJRT_Client_ProcessIndex_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        (*args).process_index = owner.client.process_index();
        Ok(())
    }

    /// `PJRT_Client_TopologyDescription`: the client keeps it.
    fn topology<P>(args: PJRT_Client_TopologyDescription_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        (*args).topology = owner.topology.as_raw();
        Ok(())
    }

    /// `PJRT_Client_Devices`.
    fn devices<P>(args: PJRT_Client_Devices_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        (*args).devices = owner.device_pointers.as_ptr();
        (*args).num_devices = owner.device_pointers.len();
        Ok(())
    }

    /// `PJRT_Client_AddressableDevices`.
    fn addressable_devices<P>(args: PJRT_Client_AddressableDevices_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        (*args).addressable_devices = owner.addressable_devices.as_ptr();
        (*args).num_addressable_devices = owner.addressable_devices.len();
        Ok(())
    }

    /// `PJRT_Client_AddressableMemories`.
    fn addressable_memories<P>(args: PJRT_Client_AddressableMemories_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        (*args).addressable_memories = owner.addressable_memories.as_ptr();
        (*args).num_addressable_memories = owner.addressable_memories.len();
        Ok(())
    }

    /// `PJRT_Client_LookupDevice`.
    fn lookup_device<P>(args: PJRT_Client_LookupDevice_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        (*args).device = owner.device(DeviceId((*args).id))?.as_raw();
        Ok(())
    }

    /// `PJRT_Client_LookupAddressableDevice`.
    fn lookup_addressable_device<P>(args: PJRT_Client_LookupAddressableDevice_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let id = (*args).local_hardware_id;
        let mut addressable = owner.devices.iter().filter(|device| device.addressable);
        let missing = || Error::invalid_argument(format!("No matching device found for local_hardware_id {id}"));
        let device = addressable.find(|device| device.local_hardware_id == id).ok_or_else(missing)?;
        (*args).addressable_device = device.as_raw();
        Ok(())
    }

    /// `PJRT_Client_UpdateGlobalProcessInfo`: which processes of JAX's distributed runtime live. No device of a
    /// platform depends on another process; a client that is refused ends this one.
    fn update_process_info<P>(args: PJRT_Client_UpdateGlobalProcessInfo_Args) {
        object::<ClientHandle<P>>("client", (*args).client)?;
        Ok(())
    }

    /// `PJRT_Client_DefaultDeviceAssignment`.
    fn default_device_assignment<P>(args: PJRT_Client_DefaultDeviceAssignment_Args) {
        let ClientHandle::<P>(owner) = object("client", (*args).client)?;
        let replicas = c_count("num_replicas", (*args).num_replicas)?;
        let partitions = c_count("num_partitions", (*args).num_partitions)?;
        let (size, needed) = ((*args).default_assignment_size, replicas.saturating_mul(partitions));
        if size < needed {
            return Err(Error::failed_precondition(format!(
                "PJRT_Client_DefaultDeviceAssignment: `default_assignment_size` {size} < \
                 `num_replicas * num_partitions`, {replicas} * {partitions} = {needed}"
            )));
        }
        let out: *mut c_int = (*args).default_assignment;
        if out.is_null() && needed > 0 {
            return Err(null("default_assignment"));
        }
        let assignment = owner.client.default_device_assignment(replicas, partitions)?;
        if assignment.devices.len() != needed {
            return Err(Error::internal(format!(
                "the platform's default device assignment has {} devices; {needed} were requested",
                assignment.devices.len()
            )));
        }
        for (index, device) in assignment.devices.iter().enumerate() {
            out.add(index).write(device.0);
        }
        Ok(())
    }
}
