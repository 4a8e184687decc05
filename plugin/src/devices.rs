//! Devices and memories: each device is a share of this machine, with one memory.

use oxcall_pjrt::{DeviceDescription, DeviceId, MemoryDescription, MemoryId, Topology};

/// The kind of the memory that every device has.
pub(crate) const MEMORY_KIND: &str = "device";

/// The memory of a device.
pub(crate) fn memory_of(device: DeviceId) -> MemoryId {
    MemoryId(device.0)
}

/// `count` devices of a platform.
pub(crate) fn topology(platform: &str, count: usize) -> Topology {
    let devices = (0..i32::try_from(count).unwrap_or(i32::MAX)).map(|index| DeviceDescription {
        id: DeviceId(index),
        process_index: 0,
        local_hardware_id: index,
        addressable: true,
        kind: platform.to_owned(),
        name: format!("{platform}:{index}"),
        debug_string: format!("device {index} of the platform {platform}: a share of this machine's cores"),
        attributes: Vec::new(),
        memories: vec![memory_of(DeviceId(index))],
        default_memory: memory_of(DeviceId(index)),
    });
    let devices: Vec<_> = devices.collect();
    let memory = |device: &DeviceDescription| MemoryDescription {
        id: device.default_memory,
        kind: MEMORY_KIND.to_owned(),
        name: format!("{platform} memory {}", device.id.0),
        debug_string: format!("memory of {}", device.name),
    };
    Topology { memories: devices.iter().map(memory).collect(), devices, attributes: Vec::new() }
}
