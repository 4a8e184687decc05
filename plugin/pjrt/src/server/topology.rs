//! `PJRT_TopologyDescription` and `PJRT_DeviceDescription`.

use std::ffi::c_int;

use xla_ffi_sys::pjrt::{
    PJRT_DeviceDescription, PJRT_DeviceDescription_Attributes_Args, PJRT_DeviceDescription_DebugString_Args,
    PJRT_DeviceDescription_Id_Args, PJRT_DeviceDescription_Kind_Args, PJRT_DeviceDescription_ProcessIndex_Args,
    PJRT_DeviceDescription_ToString_Args, PJRT_TopologyDescription, PJRT_TopologyDescription_Attributes_Args,
    PJRT_TopologyDescription_Create_Args, PJRT_TopologyDescription_Deserialize_Args,
    PJRT_TopologyDescription_Destroy_Args, PJRT_TopologyDescription_GetDeviceDescriptions_Args,
    PJRT_TopologyDescription_PlatformName_Args, PJRT_TopologyDescription_PlatformVersion_Args,
    PJRT_TopologyDescription_Serialize_Args,
};
use xla_ffi_sys::pjrt_later::{
    PJRT_TopologyDescription_Fingerprint_Args, PJRT_TopologyDescription_GetMemorySpaceKindIds_Args,
};

use super::limits;
use super::memory_descriptions::DescribedMemories;
use super::named_values::{self, NamedValues};
use super::raw::{Object, Pointers, bytes, object, release, text};
use super::serialize::Serialized;
use super::slot::slot;
use crate::{DeviceDescription, MemoryDescription, Topology};

/// The description of a device, with all that callers may point to.
pub(super) struct DescriptionObject {
    pub(super) description: DeviceDescription,
    attributes: NamedValues,
    pub(super) memories: DescribedMemories,
}

// SAFETY: descriptions lie in a `TopologyObject` only.
unsafe impl Object for DescriptionObject {
    type Raw = PJRT_DeviceDescription;
}

/// A topology, with all that callers may point to.
pub(super) struct TopologyObject {
    pub(super) topology: Topology,
    pub(super) descriptions: Vec<DescriptionObject>,
    description_pointers: Pointers<PJRT_DeviceDescription>,
    attributes: NamedValues,
    kind_ids: Vec<c_int>,
}

// SAFETY: pointers to topologies are made of `TopologyObject` only.
unsafe impl Object for TopologyObject {
    type Raw = PJRT_TopologyDescription;
}

impl TopologyObject {
    pub(super) fn new(topology: Topology) -> TopologyObject {
        let describe = |description: &DeviceDescription| DescriptionObject {
            attributes: NamedValues::new(description.attributes.clone()),
            memories: DescribedMemories::new(&topology, description),
            description: description.clone(),
        };
        let descriptions: Vec<DescriptionObject> = topology.devices.iter().map(describe).collect();
        let mut kind_ids: Vec<c_int> = topology.memories.iter().map(MemoryDescription::kind_id).collect();
        kind_ids.sort_unstable();
        kind_ids.dedup();
        TopologyObject {
            description_pointers: descriptions.iter().map(Object::as_raw).collect(),
            descriptions,
            attributes: NamedValues::new(topology.attributes.clone()),
            kind_ids,
            topology,
        }
    }
}

/// The FNV-1a hash, which is the same in every process and version.
pub(super) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

slot! {
    /// `PJRT_TopologyDescription_Create`.
    fn create<P>(args: PJRT_TopologyDescription_Create_Args) {
        let name = text("topology_name", (*args).topology_name, (*args).topology_name_size, limits::NAME)?;
        let options = named_values::read((*args).create_options, (*args).num_options)?;
        (*args).topology = TopologyObject::new(P::topology(name, &options)?).into_raw();
        Ok(())
    }

    /// `PJRT_TopologyDescription_Destroy`.
    fn destroy(args: PJRT_TopologyDescription_Destroy_Args) {
        release::<TopologyObject>((*args).topology);
        Ok(())
    }

    /// `PJRT_TopologyDescription_PlatformName`.
    fn platform_name<P>(args: PJRT_TopologyDescription_PlatformName_Args) {
        (*args).platform_name = P::name().as_ptr().cast();
        (*args).platform_name_size = P::name().len();
        Ok(())
    }

    /// `PJRT_TopologyDescription_PlatformVersion`.
    fn platform_version<P>(args: PJRT_TopologyDescription_PlatformVersion_Args) {
        (*args).platform_version = P::version().as_ptr().cast();
        (*args).platform_version_size = P::version().len();
        Ok(())
    }

    /// `PJRT_TopologyDescription_GetDeviceDescriptions`.
    fn descriptions(args: PJRT_TopologyDescription_GetDeviceDescriptions_Args) {
        let topology: &TopologyObject = object("topology", (*args).topology)?;
        (*args).descriptions = topology.description_pointers.as_ptr();
        (*args).num_descriptions = topology.description_pointers.len();
        Ok(())
    }

    /// `PJRT_TopologyDescription_Attributes`.
    fn attributes(args: PJRT_TopologyDescription_Attributes_Args) {
        let topology: &TopologyObject = object("topology", (*args).topology)?;
        (*args).attributes = topology.attributes.as_ptr();
        (*args).num_attributes = topology.attributes.len();
        Ok(())
    }

    /// `PJRT_TopologyDescription_Serialize`.
    fn serialize(args: PJRT_TopologyDescription_Serialize_Args) {
        let topology: &TopologyObject = object("topology", (*args).topology)?;
        let serialized = Serialized::new(topology.topology.serialize());
        (*args).serialized_bytes = serialized.bytes;
        (*args).serialized_bytes_size = serialized.size;
        (*args).serialized_topology = serialized.holder;
        (*args).serialized_topology_deleter = serialized.deleter;
        Ok(())
    }

    /// `PJRT_TopologyDescription_Deserialize`.
    fn deserialize(args: PJRT_TopologyDescription_Deserialize_Args) {
        let bytes = bytes("topology", (*args).serialized_topology, (*args).serialized_topology_size, limits::PROTO)?;
        (*args).topology = TopologyObject::new(Topology::deserialize(bytes)?).into_raw();
        Ok(())
    }

    /// `PJRT_TopologyDescription_Fingerprint`.
    fn fingerprint<P>(args: PJRT_TopologyDescription_Fingerprint_Args) {
        let topology: &TopologyObject = object("topology", (*args).topology)?;
        let mut bytes = topology.topology.serialize();
        bytes.extend_from_slice(P::name().as_bytes());
        bytes.extend_from_slice(P::version().as_bytes());
        (*args).fingerprint = fnv1a(&bytes);
        Ok(())
    }

    /// `PJRT_TopologyDescription_GetMemorySpaceKindIds`.
    fn kind_ids(args: PJRT_TopologyDescription_GetMemorySpaceKindIds_Args) {
        let topology: &TopologyObject = object("topology", (*args).topology)?;
        (*args).memory_space_kind_ids = topology.kind_ids.as_ptr();
        (*args).num_memory_space_kind_ids = topology.kind_ids.len();
        Ok(())
    }

    /// `PJRT_DeviceDescription_Id`.
    fn device_id(args: PJRT_DeviceDescription_Id_Args) {
        let object: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).id = object.description.id.0;
        Ok(())
    }

    /// `PJRT_DeviceDescription_ProcessIndex`.
    fn device_process_index(args: PJRT_DeviceDescription_ProcessIndex_Args) {
        let object: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).process_index = object.description.process_index;
        Ok(())
    }

    /// `PJRT_DeviceDescription_Attributes`.
    fn device_attributes(args: PJRT_DeviceDescription_Attributes_Args) {
        let object: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).attributes = object.attributes.as_ptr();
        (*args).num_attributes = object.attributes.len();
        Ok(())
    }

    /// `PJRT_DeviceDescription_Kind`.
    fn device_kind(args: PJRT_DeviceDescription_Kind_Args) {
        let object: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).device_kind = object.description.kind.as_ptr().cast();
        (*args).device_kind_size = object.description.kind.len();
        Ok(())
    }

    /// `PJRT_DeviceDescription_DebugString`.
    fn device_debug_string(args: PJRT_DeviceDescription_DebugString_Args) {
        let object: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).debug_string = object.description.debug_string.as_ptr().cast();
        (*args).debug_string_size = object.description.debug_string.len();
        Ok(())
    }

    /// `PJRT_DeviceDescription_ToString`.
    fn device_to_string(args: PJRT_DeviceDescription_ToString_Args) {
        let object: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).to_string = object.description.name.as_ptr().cast();
        (*args).to_string_size = object.description.name.len();
        Ok(())
    }
}
