//! Clients, devices, memories, topologies.

use std::collections::HashSet;

use oxcall_pjrt::Code;
use xla_ffi_sys::pjrt::*;

use crate::common::client::{Plugin, elements, int_option, text};

#[test]
fn platform_name_and_version() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let name = plugin.call(plugin.api.base.PJRT_Client_PlatformName, |args| args.client = client.raw).unwrap();
    let name = text(name.platform_name, name.platform_name_size);
    assert!(!name.is_empty() && name == name.to_ascii_lowercase(), "{name}");
    let version = plugin.call(plugin.api.base.PJRT_Client_PlatformVersion, |args| args.client = client.raw).unwrap();
    assert!(version.platform_version_size > 0);
}

#[test]
fn process_index() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let args = plugin.call(plugin.api.base.PJRT_Client_ProcessIndex, |args| args.client = client.raw).unwrap();
    assert_eq!(args.process_index, 0);
}

#[test]
fn devices() {
    let client = Plugin::get().client();
    let devices = client.devices();
    assert!(!devices.is_empty());
    assert!(devices.iter().all(|&device| client.device_id(device) >= 0));
    let addressable = client.addressable_devices();
    assert!(!addressable.is_empty());
    assert!(addressable.iter().all(|device| devices.contains(device)));
}

#[test]
fn look_up_devices() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let look_up = |id| {
        plugin.call(plugin.api.base.PJRT_Client_LookupDevice, |args| {
            args.client = client.raw;
            args.id = id;
        })
    };
    let device = look_up(0).unwrap().device;
    assert_eq!(client.device_id(device), 0);
    look_up(-1).err().unwrap().expect(Code::InvalidArgument, "No matching device found for device_id -1");
    let past = client.devices().len() as i32;
    let phrase = format!("No matching device found for device_id {past}");
    look_up(past).err().unwrap().expect(Code::InvalidArgument, &phrase);

    let slot = plugin.api.base.PJRT_Client_LookupAddressableDevice;
    let args = plugin.call(slot, |args| args.client = client.raw).unwrap();
    assert_eq!(args.addressable_device, device);
    let failed = plugin.call(slot, |args| {
        args.client = client.raw;
        args.local_hardware_id = -1;
    });
    failed.err().unwrap().expect(Code::InvalidArgument, "No matching device found");
}

#[test]
fn what_devices_say() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let api = &plugin.api.base;
    let device = client.devices()[0];
    let description = client.description(device);
    assert_eq!(client.device_id(device), 0);
    let index = plugin.call(api.PJRT_DeviceDescription_ProcessIndex, |args| args.device_description = description);
    assert_eq!(index.unwrap().process_index, 0);
    assert!(plugin.call(api.PJRT_Device_IsAddressable, |args| args.device = device).unwrap().is_addressable);
    assert_eq!(plugin.call(api.PJRT_Device_LocalHardwareId, |args| args.device = device).unwrap().local_hardware_id, 0);
    let kind = plugin.call(api.PJRT_DeviceDescription_Kind, |args| args.device_description = description).unwrap();
    assert!(!text(kind.device_kind, kind.device_kind_size).is_empty());
    let name = plugin.call(api.PJRT_DeviceDescription_ToString, |args| args.device_description = description).unwrap();
    assert!(!text(name.to_string, name.to_string_size).is_empty());
    let long =
        plugin.call(api.PJRT_DeviceDescription_DebugString, |args| args.device_description = description).unwrap();
    assert!(!text(long.debug_string, long.debug_string_size).is_empty());
    plugin.call(api.PJRT_DeviceDescription_Attributes, |args| args.device_description = description).unwrap();
    let attributes = plugin.call(plugin.api.PJRT_Device_GetAttributes, |args| args.device = device).unwrap();
    let _ = elements(attributes.attributes, attributes.num_attributes);
    // SAFETY: the attributes are given back once.
    unsafe { attributes.attributes_deleter.expect("a deleter")(attributes.device_attributes) };
}

#[test]
fn memories() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let api = &plugin.api.base;
    let args = plugin.call(api.PJRT_Client_AddressableMemories, |args| args.client = client.raw).unwrap();
    let memories = elements(args.addressable_memories, args.num_addressable_memories);
    assert!(!memories.is_empty());
    let mut ids = HashSet::new();
    for &memory in &memories {
        assert!(ids.insert(plugin.call(api.PJRT_Memory_Id, |args| args.memory = memory).unwrap().id));
        let kind = plugin.call(api.PJRT_Memory_Kind, |args| args.memory = memory).unwrap();
        assert!(!text(kind.kind, kind.kind_size).is_empty());
        assert_ne!(plugin.call(api.PJRT_Memory_Kind_Id, |args| args.memory = memory).unwrap().kind_id, 0);
        assert!(plugin.call(api.PJRT_Memory_ToString, |args| args.memory = memory).unwrap().to_string_size > 0);
        assert!(plugin.call(api.PJRT_Memory_DebugString, |args| args.memory = memory).unwrap().debug_string_size > 0);
        let users = plugin.call(api.PJRT_Memory_AddressableByDevices, |args| args.memory = memory).unwrap();
        for device in elements(users.devices, users.num_devices) {
            let known = plugin.call(api.PJRT_Device_AddressableMemories, |args| args.device = device).unwrap();
            assert!(elements(known.memories, known.num_memories).contains(&memory));
        }
    }
    for device in client.addressable_devices() {
        assert!(memories.contains(&client.default_memory(device)));
    }
}

fn assign(replicas: i32, partitions: i32, room: usize) -> Result<Vec<i32>, crate::common::client::Failure> {
    let plugin = Plugin::get();
    let client = plugin.client();
    let mut assignment = vec![-1; room];
    plugin.call(plugin.api.base.PJRT_Client_DefaultDeviceAssignment, |args| {
        args.client = client.raw;
        args.num_replicas = replicas;
        args.num_partitions = partitions;
        args.default_assignment_size = room;
        args.default_assignment = assignment.as_mut_ptr();
    })?;
    Ok(assignment)
}

#[test]
fn default_device_assignment() {
    let assignment = assign(2, 1, 2).unwrap();
    assert!(assignment.iter().all(|&id| id >= 0), "{assignment:?}");
    assign(4, 2, 7).unwrap_err().expect(
        Code::FailedPrecondition,
        "PJRT_Client_DefaultDeviceAssignment: `default_assignment_size` 7 < `num_replicas * num_partitions`, 4 * 2 = 8",
    );
    assign(-1, 2, 7).unwrap_err().expect(Code::InvalidArgument, "num_replicas is negative");
}

#[test]
fn options() {
    let plugin = Plugin::get();
    let client = plugin.client_with(&mut [int_option("num_devices", 3)]).unwrap();
    assert_eq!(client.devices().len(), 3);
    let failed = plugin.client_with(&mut [int_option("no_such_option", 3)]);
    failed.err().expect("unknown options are refused").expect(Code::InvalidArgument, "no_such_option");
}

#[test]
fn topology() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let api = &plugin.api.base;
    let topology = plugin.call(api.PJRT_Client_TopologyDescription, |args| args.client = client.raw).unwrap().topology;
    let name = plugin.call(api.PJRT_TopologyDescription_PlatformName, |args| args.topology = topology).unwrap();
    let version = plugin.call(api.PJRT_TopologyDescription_PlatformVersion, |args| args.topology = topology).unwrap();
    assert!(name.platform_name_size > 0 && version.platform_version_size > 0);
    plugin.call(api.PJRT_TopologyDescription_Attributes, |args| args.topology = topology).unwrap();
    let ids = |topology| {
        let slot = api.PJRT_TopologyDescription_GetDeviceDescriptions;
        let args = plugin.call(slot, |args| args.topology = topology).unwrap();
        let id = |description| {
            let slot = api.PJRT_DeviceDescription_Id;
            plugin.call(slot, |args| args.device_description = description).unwrap().id
        };
        elements(args.descriptions, args.num_descriptions).into_iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids(topology).len(), client.devices().len());

    let stored = plugin.call(api.PJRT_TopologyDescription_Serialize, |args| args.topology = topology).unwrap();
    let bytes = elements(stored.serialized_bytes, stored.serialized_bytes_size);
    // SAFETY: the bytes are given back once.
    unsafe { stored.serialized_topology_deleter.expect("a deleter")(stored.serialized_topology) };
    let slot = api.PJRT_TopologyDescription_Deserialize;
    let load = |bytes: &[std::ffi::c_char]| {
        plugin.call(slot, |args| {
            args.serialized_topology = bytes.as_ptr();
            args.serialized_topology_size = bytes.len();
        })
    };
    let loaded = load(&bytes).unwrap().topology;
    assert_eq!(ids(loaded), ids(topology));
    let fingerprint = |topology| {
        let slot = plugin.api.PJRT_TopologyDescription_Fingerprint;
        plugin.call(slot, |args| args.topology = topology).unwrap().fingerprint
    };
    assert_eq!(fingerprint(loaded), fingerprint(topology));
    let kinds = plugin.call(plugin.api.PJRT_TopologyDescription_GetMemorySpaceKindIds, |args| args.topology = loaded);
    assert!(kinds.unwrap().num_memory_space_kind_ids > 0);
    plugin.call(api.PJRT_TopologyDescription_Destroy, |args| args.topology = loaded).unwrap();
    load(&[1, 2, 3]).err().unwrap().expect(Code::InvalidArgument, "");
}

/// Frameworks destroy a client when the interpreter ends, whatever still exists.
#[test]
fn objects_outlive_their_client() {
    let plugin = Plugin::get();
    let client = plugin.client();
    let device = client.devices()[0];
    let loaded = client.compile(plugin.programs.increment);
    let executable = loaded.executable();
    let buffer = client.put(&[1, 2, 3, 4], device);
    drop(client);
    let output = loaded.run(&[&buffer]).unwrap();
    drop(loaded);
    assert_eq!(output.integers().unwrap(), [2, 3, 4, 5]);
    let slot = plugin.api.base.PJRT_Buffer_Device;
    assert_eq!(plugin.call(slot, |args| args.buffer = output.raw).unwrap().device, device);
    let slot = plugin.api.base.PJRT_Executable_NumOutputs;
    assert_eq!(plugin.call(slot, |args| args.executable = executable.raw).unwrap().num_outputs, 1);
    drop(output);
    drop(buffer);
}

#[test]
fn plugin_attributes() {
    let plugin = Plugin::get();
    let args = plugin.call(plugin.api.base.PJRT_Plugin_Attributes, |_| ()).unwrap();
    let attributes = elements(args.attributes, args.num_attributes);
    let names: Vec<String> = attributes.iter().map(|value| text(value.name, value.name_size)).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    for name in ["xla_version", "stablehlo_current_version", "stablehlo_minimum_version"] {
        assert!(names.iter().any(|known| known == name), "{names:?}");
    }
    let current = &attributes[names.iter().position(|name| name == "stablehlo_current_version").unwrap()];
    assert_eq!((current.type_, current.value_size), (PJRT_NamedValue_kInt64List, 3));
    // SAFETY: the type says that it is a list.
    let list = unsafe { current.__bindgen_anon_1.int64_array_value };
    // The toy's, or the newest that a plugin reads.
    assert!(elements(list, 3) >= vec![1, 13, 0]);
}
