//! Descriptions of devices and of their memories.

use crate::Attributes;

/// The global number of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub i32);

/// The global number of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub i32);

/// A device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceDescription {
    /// Its number, unique among all devices of a program.
    pub id: DeviceId,
    /// The process that it belongs to.
    pub process_index: i32,
    /// Its number on this machine; -1 if it is of another process.
    pub local_hardware_id: i32,
    /// Whether this process can use it.
    pub addressable: bool,
    /// What kind of device it is: a vendor's name of the model.
    pub kind: String,
    /// A short text for people, such as `toy:0`.
    pub name: String,
    /// A longer text.
    pub debug_string: String,
    /// Anything else.
    pub attributes: Attributes,
    /// The memories that it can use.
    pub memories: Vec<MemoryId>,
    /// The one of `memories` where data is placed if nothing is said.
    pub default_memory: MemoryId,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDescription {
    /// Its number, unique among all memories.
    pub id: MemoryId,
    /// What it is, as programs name it: `device`, `pinned_host`, `unpinned_host` or another name.
    pub kind: String,
    /// A short text for people.
    pub name: String,
    /// A longer text.
    pub debug_string: String,
}

/// All devices and memories.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The devices, in the order in which frameworks number them.
    pub devices: Vec<DeviceDescription>,
    /// The memories of all devices.
    pub memories: Vec<MemoryDescription>,
    /// Anything else.
    pub attributes: Attributes,
}

impl Topology {
    /// The device with a number.
    pub fn device(&self, id: DeviceId) -> Option<&DeviceDescription> {
        self.devices.iter().find(|device| device.id == id)
    }

    /// The memory with a number.
    pub fn memory(&self, id: MemoryId) -> Option<&MemoryDescription> {
        self.memories.iter().find(|memory| memory.id == id)
    }
}
