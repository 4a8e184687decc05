//! The extension that describes the memories of a device without a client.

use std::ffi::c_int;

use xla_ffi_sys::pjrt::{
    PJRT_DeviceDescription_MemoryDescriptions_Args, PJRT_MemoryDescription, PJRT_MemoryDescription_Kind_Args,
};

use super::raw::{Object, Pointers, object};
use super::slot::slot;
use super::topology::{DescriptionObject, fnv1a};
use crate::{DeviceDescription, MemoryDescription, Topology};

impl MemoryDescription {
    /// A number that all memories of this kind have, and in all likelihood no others; never 0.
    pub(super) fn kind_id(&self) -> c_int {
        (fnv1a(self.kind.as_bytes()) >> 33) as c_int | 1
    }
}

// SAFETY: pointers to descriptions of memories are made of this type only.
unsafe impl Object for MemoryDescription {
    type Raw = PJRT_MemoryDescription;
}

/// The memories of one device.
pub(super) struct DescribedMemories {
    pointers: Pointers<PJRT_MemoryDescription>,
    /// `usize::MAX` where there is none.
    default: usize,
    /// The targets of `pointers`.
    _memories: Vec<MemoryDescription>,
}

impl DescribedMemories {
    pub(super) fn new(topology: &Topology, device: &DeviceDescription) -> DescribedMemories {
        let memories: Vec<_> = device.memories.iter().filter_map(|&id| topology.memory(id).cloned()).collect();
        let default = memories.iter().position(|memory| memory.id == device.default_memory);
        DescribedMemories {
            pointers: memories.iter().map(Object::as_raw).collect(),
            default: default.unwrap_or(usize::MAX),
            _memories: memories,
        }
    }
}

slot! {
    /// `PJRT_DeviceDescription_MemoryDescriptions`.
    fn memory_descriptions(args: PJRT_DeviceDescription_MemoryDescriptions_Args) {
        let device: &DescriptionObject = object("device description", (*args).device_description)?;
        (*args).memory_descriptions = device.memories.pointers.as_ptr().cast();
        (*args).num_memory_descriptions = device.memories.pointers.len();
        (*args).default_memory_index = device.memories.default;
        Ok(())
    }

    /// `PJRT_MemoryDescription_Kind`.
    fn kind(args: PJRT_MemoryDescription_Kind_Args) {
        let memory: &MemoryDescription = object("memory description", (*args).memory_description)?;
        (*args).kind = memory.kind.as_ptr().cast();
        (*args).kind_size = memory.kind.len();
        (*args).kind_id = memory.kind_id();
        Ok(())
    }
}
