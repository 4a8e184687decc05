//! Descriptions of devices and of their memories.

use oxcall_proto::{Field, Reader, Writer};

use crate::options::invalid;
use crate::{Attributes, Error, Result, Value};

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
    /// The kind of device: the vendor's name of the model.
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
    /// Its kind, as programs name it: `device`, `pinned_host`, `unpinned_host` or another name.
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

/// The stored form: a protocol buffer of our own, since the C API leaves it to the platform.
impl Topology {
    pub(crate) fn serialize(&self) -> Vec<u8> {
        let mut proto = Writer::default();
        for device in &self.devices {
            proto.nested(1, |proto| device.write(proto));
        }
        for memory in &self.memories {
            proto.nested(2, |proto| memory.write(proto));
        }
        write_attributes(&mut proto, 3, &self.attributes);
        proto.finish()
    }

    pub(crate) fn deserialize(bytes: &[u8]) -> Result<Topology> {
        let mut topology = Topology::default();
        each(Reader::new(bytes), |number, field| {
            match number {
                1 => topology.devices.push(DeviceDescription::read(field.message()?)?),
                2 => topology.memories.push(MemoryDescription::read(field.message()?)?),
                3 => topology.attributes.push(read_attribute(field.message()?)?),
                _ => {}
            }
            Ok(())
        })
        .map_err(invalid)?;
        if topology.devices.is_empty() {
            return Err(Error::invalid_argument("the serialized topology has no devices"));
        }
        Ok(topology)
    }
}

impl DeviceDescription {
    fn write(&self, proto: &mut Writer) {
        proto.int(1, self.id.0.into());
        proto.int(2, self.process_index.into());
        proto.int(3, self.local_hardware_id.into());
        proto.int(4, self.addressable.into());
        proto.bytes(5, self.kind.as_bytes());
        proto.bytes(6, self.name.as_bytes());
        proto.bytes(7, self.debug_string.as_bytes());
        write_attributes(proto, 8, &self.attributes);
        for memory in &self.memories {
            proto.int(9, memory.0.into());
        }
        proto.int(10, self.default_memory.0.into());
    }

    fn read(reader: Reader<'_>) -> Result<DeviceDescription> {
        let mut device = DeviceDescription {
            id: DeviceId(0),
            process_index: 0,
            local_hardware_id: -1,
            addressable: false,
            kind: String::new(),
            name: String::new(),
            debug_string: String::new(),
            attributes: Vec::new(),
            memories: Vec::new(),
            default_memory: MemoryId(0),
        };
        each(reader, |number, field| {
            match number {
                1 => device.id = DeviceId(int32(field)?),
                2 => device.process_index = int32(field)?,
                3 => device.local_hardware_id = int32(field)?,
                4 => device.addressable = field.bool()?,
                5 => device.kind = field.text()?.to_owned(),
                6 => device.name = field.text()?.to_owned(),
                7 => device.debug_string = field.text()?.to_owned(),
                8 => device.attributes.push(read_attribute(field.message()?)?),
                9 => device.memories.push(MemoryId(int32(field)?)),
                10 => device.default_memory = MemoryId(int32(field)?),
                _ => {}
            }
            Ok(())
        })?;
        Ok(device)
    }
}

impl MemoryDescription {
    fn write(&self, proto: &mut Writer) {
        proto.int(1, self.id.0.into());
        proto.bytes(2, self.kind.as_bytes());
        proto.bytes(3, self.name.as_bytes());
        proto.bytes(4, self.debug_string.as_bytes());
    }

    fn read(reader: Reader<'_>) -> Result<MemoryDescription> {
        let (mut id, mut texts) = (MemoryId(0), [const { String::new() }; 3]);
        each(reader, |number, field| {
            match number {
                1 => id = MemoryId(int32(field)?),
                2..=4 => texts[number as usize - 2] = field.text()?.to_owned(),
                _ => {}
            }
            Ok(())
        })?;
        let [kind, name, debug_string] = texts;
        Ok(MemoryDescription { id, kind, name, debug_string })
    }
}

fn write_attributes(proto: &mut Writer, number: u32, attributes: &Attributes) {
    for (name, value) in attributes {
        proto.nested(number, |proto| {
            proto.bytes(1, name.as_bytes());
            match value {
                Value::String(text) => proto.bytes(2, text.as_bytes()),
                Value::Int64(number) => proto.int(3, *number),
                Value::Int64List(list) => proto.nested(4, |proto| _ = proto.ints(1, list.iter().copied())),
                Value::Float(number) => proto.float(5, *number),
                Value::Bool(flag) => proto.bool(6, *flag),
            };
        });
    }
}

fn read_attribute(reader: Reader<'_>) -> Result<(String, Value)> {
    let (mut name, mut value) = (String::new(), Value::String(String::new()));
    each(reader, |number, field| {
        match number {
            1 => name = field.text()?.to_owned(),
            2 => value = Value::String(field.text()?.to_owned()),
            3 => value = Value::Int64(field.int()?),
            4 => {
                let mut list = Vec::new();
                each(field.message()?, |_, field| Ok(field.ints(&mut list)?))?;
                value = Value::Int64List(list);
            }
            5 => value = Value::Float(field.float()?),
            6 => value = Value::Bool(field.bool()?),
            _ => {}
        }
        Ok(())
    })?;
    Ok((name, value))
}

fn each(mut reader: Reader<'_>, mut read: impl FnMut(u32, Field<'_>) -> Result<()>) -> Result<()> {
    while let Some((number, field)) = reader.field()? {
        read(number, field)?;
    }
    Ok(())
}

fn int32(field: Field<'_>) -> Result<i32> {
    i32::try_from(field.int()?)
        .map_err(|_| Error::invalid_argument("the serialized topology has a number over 32 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_reads_back() {
        let topology = Topology {
            devices: vec![DeviceDescription {
                id: DeviceId(3),
                process_index: 1,
                local_hardware_id: -1,
                addressable: false,
                kind: "toy".into(),
                name: "toy:3".into(),
                debug_string: "a toy".into(),
                attributes: vec![
                    ("coords".into(), vec![1, -2, 3].into()),
                    ("empty".into(), Vec::new().into()),
                    ("name".into(), "x".into()),
                    ("number".into(), 7.into()),
                    ("speed".into(), 1.5.into()),
                    ("fast".into(), true.into()),
                ],
                memories: vec![MemoryId(5), MemoryId(6)],
                default_memory: MemoryId(6),
            }],
            memories: vec![MemoryDescription {
                id: MemoryId(5),
                kind: "device".into(),
                name: "hbm".into(),
                debug_string: "memory".into(),
            }],
            attributes: vec![("wrap".into(), false.into())],
        };
        let bytes = topology.serialize();
        assert_eq!(Topology::deserialize(&bytes).unwrap(), topology);
        for end in 0..bytes.len() {
            // A prefix may be a shorter message; nothing else may happen.
            let _ = Topology::deserialize(&bytes[..end]);
        }
        assert!(Topology::deserialize(b"").is_err());
    }
}
