//! A client with its devices and memories: what lives as long as anything that was made with it.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use xla_ffi_sys::pjrt::{PJRT_Client, PJRT_Device, PJRT_Memory};
use xla_ffi_sys::pjrt_later::PJRT_Memory_FunctionTable;

use super::memory;
use super::raw::{Object, Pointers, null, object};
use super::topology::TopologyObject;
use crate::sync::Mutex;
use crate::{Client, DeviceDescription, DeviceId, Error, MemoryDescription, MemoryId, Platform, Result};

/// The object behind a `PJRT_Client`.
pub(super) struct ClientHandle<P: Platform>(pub(super) Arc<ClientObject<P>>);

// SAFETY: pointers to clients are made of `ClientHandle` only.
unsafe impl<P: Platform> Object for ClientHandle<P> {
    type Raw = PJRT_Client;
}

/// A client, shared by all that was made with it.
///
/// Objects behind callers' pointers lie in vectors: a box promises that no other pointer leads into it, even while it
/// is moved.
pub(super) struct ClientObject<P: Platform> {
    /// How many clients there were before, and one.
    number: u64,
    pub(super) client: P::Client,
    pub(super) topology: Arc<TopologyObject>,
    pub(super) devices: Vec<DeviceObject<P>>,
    pub(super) memories: Vec<MemoryObject<P>>,
    pub(super) device_pointers: Pointers<PJRT_Device>,
    pub(super) addressable_devices: Pointers<PJRT_Device>,
    pub(super) addressable_memories: Pointers<PJRT_Memory>,
}

/// A device of a client.
pub(super) struct DeviceObject<P: Platform> {
    owner: Weak<ClientObject<P>>,
    /// Answers queries that may not fail, even while the client is being destroyed.
    pub(super) topology: Arc<TopologyObject>,
    pub(super) index: usize,
    pub(super) id: DeviceId,
    pub(super) addressable: bool,
    pub(super) local_hardware_id: i32,
    /// The places of its memories in the client's list.
    pub(super) memories: Vec<usize>,
    pub(super) default_memory: usize,
    pub(super) memory_pointers: OnceLock<Pointers<PJRT_Memory>>,
}

// SAFETY: devices lie in a `ClientObject` only.
unsafe impl<P: Platform> Object for DeviceObject<P> {
    type Raw = PJRT_Device;
}

/// A memory of a client. Its first word is a function table, which newer versions of the API require.
#[repr(C)]
pub(super) struct MemoryObject<P: Platform> {
    vtable: &'static PJRT_Memory_FunctionTable,
    owner: Weak<ClientObject<P>>,
    pub(super) description: MemoryDescription,
    /// The devices that can use it.
    pub(super) devices: Pointers<PJRT_Device>,
    /// The place of the first of them in the client's list.
    pub(super) first_device: usize,
    pub(super) user_data: Mutex<HashMap<usize, memory::UserDatum>>,
}

// SAFETY: memories lie in a `ClientObject` only.
unsafe impl<P: Platform> Object for MemoryObject<P> {
    type Raw = PJRT_Memory;
}

/// A part of a client, or an object that was made with one.
pub(super) trait Owned<P: Platform>: Object {
    fn belongs_to(&self, client: &ClientObject<P>) -> bool;

    /// The client, if it still lives.
    fn client(&self) -> Option<Arc<ClientObject<P>>>;

    /// Its name in messages.
    fn name(&self) -> String;
}

impl<P: Platform> Owned<P> for DeviceObject<P> {
    fn belongs_to(&self, client: &ClientObject<P>) -> bool {
        std::ptr::eq(self.owner.as_ptr(), client)
    }

    fn client(&self) -> Option<Arc<ClientObject<P>>> {
        self.owner.upgrade()
    }

    fn name(&self) -> String {
        format!("the device {}", self.topology.topology.devices[self.index].name)
    }
}

impl<P: Platform> Owned<P> for MemoryObject<P> {
    fn belongs_to(&self, client: &ClientObject<P>) -> bool {
        std::ptr::eq(self.owner.as_ptr(), client)
    }

    fn client(&self) -> Option<Arc<ClientObject<P>>> {
        self.owner.upgrade()
    }

    fn name(&self) -> String {
        format!("the memory {}", self.description.name)
    }
}

fn gone() -> Error {
    Error::failed_precondition("the client was destroyed")
}

impl<P: Platform> DeviceObject<P> {
    pub(super) fn owner(&self) -> Result<Arc<ClientObject<P>>> {
        self.owner.upgrade().ok_or_else(gone)
    }
}

impl<P: Platform> MemoryObject<P> {
    pub(super) fn owner(&self) -> Result<Arc<ClientObject<P>>> {
        self.owner.upgrade().ok_or_else(gone)
    }
}

impl<P: Platform> fmt::Display for ClientObject<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {} of the platform {}", self.number, P::name())
    }
}

impl<P: Platform> ClientObject<P> {
    /// The object behind a pointer, which a call gives together with others of this client.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for null, and for an object of another client.
    ///
    /// # Safety
    /// As for [`object`].
    pub(super) unsafe fn own<'a, T: Owned<P>>(&self, what: impl fmt::Display, raw: *const T::Raw) -> Result<&'a T> {
        if raw.is_null() {
            return Err(null(&what.to_string()));
        }
        // SAFETY: passed on from the caller.
        let object: &T = unsafe { object("object", raw) }?;
        if object.belongs_to(self) {
            return Ok(object);
        }
        let theirs = object.client().map_or_else(|| "a destroyed client".to_owned(), |client| client.to_string());
        Err(Error::invalid_argument(format!(
            "{what}: {} belongs to {theirs}, but the call is to {self}; pass only objects of that client",
            object.name()
        )))
    }

    /// A client whose description makes sense.
    pub(super) fn new(client: P::Client) -> Result<Arc<ClientObject<P>>> {
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let topology = Arc::new(TopologyObject::new(client.topology().clone()));
        let described = &topology.topology;
        let place = |id: MemoryId| described.memories.iter().position(|memory| memory.id == id);
        let places = |device: &DeviceDescription| {
            let known: Option<Vec<usize>> = device.memories.iter().map(|&id| place(id)).collect();
            let default = place(device.default_memory);
            let broken = || Error::internal(format!("{}: one of its memories is not in the topology", device.name));
            known.zip(default).ok_or_else(broken)
        };
        let memories = described.devices.iter().map(places).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new_cyclic(|owner| {
            let of_device = |(index, (device, (memories, default_memory)))| {
                let device: &DeviceDescription = device;
                DeviceObject {
                    owner: owner.clone(),
                    topology: topology.clone(),
                    index,
                    id: device.id,
                    addressable: device.addressable,
                    local_hardware_id: device.local_hardware_id,
                    memories,
                    default_memory,
                    memory_pointers: OnceLock::new(),
                }
            };
            let devices: Vec<DeviceObject<P>> =
                described.devices.iter().zip(memories).enumerate().map(of_device).collect();
            let of_memory = |(place, memory): (usize, &MemoryDescription)| {
                let users = || devices.iter().filter(|device| device.memories.contains(&place));
                MemoryObject {
                    vtable: memory::vtable::<P>(),
                    owner: owner.clone(),
                    description: memory.clone(),
                    devices: users().map(Object::as_raw).collect(),
                    first_device: users().next().map_or(0, |device| device.index),
                    user_data: Mutex::default(),
                }
            };
            let memories: Vec<MemoryObject<P>> = described.memories.iter().enumerate().map(of_memory).collect();
            for device in &devices {
                let pointers = device.memories.iter().map(|&place| memories[place].as_raw()).collect();
                let _ = device.memory_pointers.set(pointers);
            }
            let addressable =
                |place: usize| devices.iter().any(|each| each.addressable && each.memories.contains(&place));
            ClientObject {
                number: CLIENTS.fetch_add(1, Ordering::Relaxed) + 1,
                device_pointers: devices.iter().map(Object::as_raw).collect(),
                addressable_devices: devices.iter().filter(|each| each.addressable).map(Object::as_raw).collect(),
                addressable_memories: (0..memories.len())
                    .filter(|&place| addressable(place))
                    .map(|place| memories[place].as_raw())
                    .collect(),
                client,
                devices,
                memories,
                topology: topology.clone(),
            }
        }))
    }

    pub(super) fn device(&self, id: DeviceId) -> Result<&DeviceObject<P>> {
        let missing = || Error::invalid_argument(format!("No matching device found for device_id {}", id.0));
        self.devices.iter().find(|device| device.id == id).ok_or_else(missing)
    }
}
