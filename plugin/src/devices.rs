//! Devices and memories: each device is a share of this machine, with one memory of each kind.

use std::iter;

use oxcall_hlo::{ArgAttributes, Attribute};
use oxcall_pjrt::{DeviceDescription, DeviceId, Error, MemoryDescription, MemoryId, Result, Topology};

use crate::node::Node;

/// The kinds of memories that every device has, in the order of their numbers; the first one is where data goes if
/// nothing is said. They are names for one and the same memory of this machine, as on XLA's CPU.
const MEMORY_KINDS: [&str; 3] = ["device", "pinned_host", "unpinned_host"];

/// A kind of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MemoryKind(u8);

impl MemoryKind {
    /// The kind that is called so.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for a name that no kind has.
    pub(crate) fn named(name: &str) -> Result<MemoryKind> {
        let place = MEMORY_KINDS.iter().position(|&kind| kind == name);
        place.map(|place| MemoryKind(place as u8)).ok_or_else(|| {
            let known = MEMORY_KINDS.join(", ");
            Error::invalid_argument(format!("unknown memory kind `{name}`; the kinds are {known}"))
        })
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        MEMORY_KINDS[usize::from(self.0)]
    }

    /// The memory of this kind that a device has.
    pub(crate) fn of(self, device: DeviceId) -> MemoryId {
        MemoryId(device.0 * MEMORY_KINDS.len() as i32 + i32::from(self.0))
    }
}

/// The kinds of memory that `mhlo.memory_kind` names for a program's parameters or results.
///
/// # Errors
/// As [`MemoryKind::named`].
pub(crate) fn memory_kinds(attributes: &[ArgAttributes]) -> Result<Vec<MemoryKind>> {
    let kind = |attributes: &ArgAttributes| match attributes.iter().find(|(name, _)| name == "mhlo.memory_kind") {
        Some((_, Attribute::String(name))) => MemoryKind::named(&String::from_utf8_lossy(name)),
        _ => Ok(MemoryKind::default()),
    };
    attributes.iter().map(kind).collect()
}

/// The `count` devices of this process; after them those of the other processes, if `everywhere`: as many of each,
/// which programs may name and not use.
pub(crate) fn topology(platform: &str, node: Node, count: usize, everywhere: bool) -> Topology {
    let kinds = || (0..MEMORY_KINDS.len()).map(|place| MemoryKind(place as u8));
    let device = |process: i32, place: i32| {
        let (id, addressable) = (Node::device(process, place), process == node.index);
        DeviceDescription {
            id,
            process_index: process,
            local_hardware_id: if addressable { place } else { -1 },
            addressable,
            kind: platform.to_owned(),
            name: format!("{}Device(id={})", capitalized(platform), id.0),
            debug_string: format!("{platform}:{}", id.0),
            attributes: Vec::new(),
            memories: kinds().map(|kind| kind.of(id)).collect(),
            default_memory: MemoryKind::default().of(id),
        }
    };
    let others = (0..node.count).filter(|&process| everywhere && process != node.index);
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    let devices =
        iter::once(node.index).chain(others).flat_map(|process| (0..count).map(move |place| device(process, place)));
    let devices: Vec<_> = devices.collect();
    let memories = devices.iter().flat_map(|device| kinds().map(move |kind| (device, kind)));
    let memories = memories.map(|(device, kind)| MemoryDescription {
        id: kind.of(device.id),
        kind: kind.name().to_owned(),
        name: format!("{}_{}", short_name(platform, kind), kind.of(device.id).0),
        debug_string: format!(
            "{}(id={}, process_index={}, client={platform})",
            long_name(platform, kind),
            kind.of(device.id).0,
            device.process_index
        ),
    });
    Topology { memories: memories.collect(), devices, attributes: Vec::new() }
}

/// The start of a memory's `repr`, as for XLA's own devices.
fn short_name(platform: &str, kind: MemoryKind) -> String {
    match kind.name() {
        "device" => format!("{platform}_device").to_uppercase(),
        host => host.to_uppercase(),
    }
}

/// The start of a memory's `str`, as for XLA's own devices.
fn long_name(platform: &str, kind: MemoryKind) -> String {
    match kind.name() {
        "device" => format!("{}DeviceMemory", capitalized(platform)),
        "pinned_host" => "PinnedHostMemory".to_owned(),
        _ => "UnpinnedHostMemorySpace".to_owned(),
    }
}

/// A name as that of a class: `MyPlatform` of `my_platform`.
fn capitalized(name: &str) -> String {
    let word = |word: &str| {
        let mut characters = word.chars();
        characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect::<String>()
    };
    name.split('_').map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_has_every_kind_and_numbers_are_unique() {
        let topology = topology("p", Node::ALONE, 3, true);
        let ids: Vec<_> = topology.memories.iter().map(|memory| memory.id).collect();
        assert_eq!(ids, (0..9).map(MemoryId).collect::<Vec<_>>());
        for device in &topology.devices {
            let kinds: Vec<_> = device.memories.iter().map(|&id| topology.memory(id).unwrap().kind.as_str()).collect();
            assert_eq!(kinds, MEMORY_KINDS);
            assert_eq!(device.default_memory, device.memories[0]);
        }
    }

    #[test]
    fn names_have_the_form_of_xlas_own() {
        let topology = topology("cpu", Node::ALONE, 2, true);
        let device = &topology.devices[1];
        assert_eq!([&*device.name, &*device.debug_string], ["CpuDevice(id=1)", "cpu:1"]);
        let names = topology.memories[3..].iter().map(|memory| [&*memory.name, &*memory.debug_string]);
        let expected = [
            ["CPU_DEVICE_3", "CpuDeviceMemory(id=3, process_index=0, client=cpu)"],
            ["PINNED_HOST_4", "PinnedHostMemory(id=4, process_index=0, client=cpu)"],
            ["UNPINNED_HOST_5", "UnpinnedHostMemorySpace(id=5, process_index=0, client=cpu)"],
        ];
        assert!(names.eq(expected));
    }

    #[test]
    fn numbers_of_different_processes_differ() {
        let node = Node { index: 1, count: 2 };
        let topology = topology("cpu", node, 2, false);
        let described = |device: &DeviceDescription| (device.id.0, device.local_hardware_id, device.process_index);
        assert_eq!(topology.devices.iter().map(described).collect::<Vec<_>>(), [(4096, 0, 1), (4097, 1, 1)]);
        assert_eq!(topology.devices[1].name, "CpuDevice(id=4097)");
        let ids: Vec<_> = topology.memories.iter().map(|memory| memory.id.0).collect();
        assert_eq!(ids, (12288..12294).collect::<Vec<_>>());
        assert_eq!(topology.memories[0].debug_string, "CpuDeviceMemory(id=12288, process_index=1, client=cpu)");
        let everywhere = super::topology("cpu", node, 2, true);
        let others = everywhere.devices[2..].iter();
        let others: Vec<_> = others.map(|device| (device.id.0, device.process_index, device.addressable)).collect();
        assert_eq!((&everywhere.devices[..2], others), (&topology.devices[..], vec![(0, 0, false), (1, 0, false)]));
    }

    #[test]
    fn kinds_of_programs_are_checked() {
        let kind = |name: &str| vec![("mhlo.memory_kind".to_owned(), Attribute::String(name.into()))];
        let kinds = memory_kinds(&[kind("pinned_host"), Vec::new()]).unwrap();
        assert_eq!(kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(), ["pinned_host", "device"]);
        let error = memory_kinds(&[kind("tape")]).unwrap_err();
        assert!(error.message().contains("unknown memory kind `tape`; the kinds are device, pinned_host"), "{error}");
    }
}
