//! Options of a compilation: XLA's `CompileOptionsProto`.

use oxcall_proto::{Field, Reader, Writer};

use crate::{Attributes, DeviceId, Error, Result, Value};

/// The device of each replica and partition of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceAssignment {
    /// The number of replicas.
    pub replicas: usize,
    /// The number of partitions of each replica.
    pub partitions: usize,
    /// The device of each, all partitions of the first replica first.
    pub devices: Vec<DeviceId>,
}

impl DeviceAssignment {
    /// A single device.
    pub fn single(device: DeviceId) -> DeviceAssignment {
        DeviceAssignment { replicas: 1, partitions: 1, devices: vec![device] }
    }

    /// The replica and the partition that the device at a place of the list runs.
    pub fn logical_ids(&self, index: usize) -> (usize, usize) {
        (index / self.partitions.max(1), index % self.partitions.max(1))
    }

    /// The serialized `DeviceAssignmentProto`.
    pub(crate) fn serialize(&self) -> Vec<u8> {
        let mut proto = Writer::default();
        proto.int(1, self.replicas as i64);
        proto.int(2, self.partitions as i64);
        for partition in 0..self.partitions {
            proto.nested(3, |column| {
                for device in self.devices.iter().skip(partition).step_by(self.partitions) {
                    column.int(1, i64::from(device.0));
                }
            });
        }
        proto.finish()
    }
}

/// A client's options of a compilation. Options without a field here are in [`bytes`](CompileOptions::bytes).
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    /// The devices of the program, where the client chose them.
    pub device_assignment: Option<DeviceAssignment>,
    /// The device of a program of one device, where the client chose one that way.
    pub device_ordinal: Option<i32>,
    /// The number of replicas; at least 1.
    pub replicas: usize,
    /// The number of partitions; at least 1.
    pub partitions: usize,
    /// Whether the partitions run one program on parts of the data.
    pub use_spmd_partitioning: bool,
    /// Whether shardings are those of Shardy.
    pub use_shardy_partitioner: bool,
    /// For each parameter, or once for all, whether the compiler may choose its sharding.
    pub propagate_sharding_to_parameters: Vec<bool>,
    /// For each result, or once for all, whether the compiler may choose its sharding.
    pub propagate_sharding_to_outputs: Vec<bool>,
    /// Whether the parameters come as one tuple.
    pub tupled_parameters: bool,
    /// Whether the program is to run on any device that a call names.
    pub portable: bool,
    /// Options by name, which override those of the environment: `compiler_options` of `jax.jit`.
    pub overrides: Attributes,
    /// The whole message, as it came.
    pub bytes: Vec<u8>,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            device_assignment: None,
            device_ordinal: None,
            replicas: 1,
            partitions: 1,
            use_spmd_partitioning: false,
            use_shardy_partitioner: false,
            propagate_sharding_to_parameters: Vec::new(),
            propagate_sharding_to_outputs: Vec::new(),
            tupled_parameters: false,
            portable: false,
            overrides: Vec::new(),
            bytes: Vec::new(),
        }
    }
}

impl CompileOptions {
    /// Reads a serialized `CompileOptionsProto`. Unknown fields are skipped.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything else.
    pub fn parse(bytes: &[u8]) -> Result<CompileOptions> {
        let mut options = CompileOptions { bytes: bytes.to_vec(), ..CompileOptions::default() };
        options.read(Reader::new(bytes)).map_err(invalid)?;
        Ok(options)
    }

    fn read(&mut self, mut fields: Reader<'_>) -> Result<()> {
        while let Some((number, field)) = fields.field()? {
            match number {
                2 => self.tupled_parameters = field.bool()?,
                3 => self.read_build_options(field.message()?)?,
                4 => self.portable = field.bool()?,
                7 => self.overrides.push(read_override(field.message()?)?),
                _ => {}
            }
        }
        Ok(())
    }

    /// `ExecutableBuildOptionsProto`.
    fn read_build_options(&mut self, mut fields: Reader<'_>) -> Result<()> {
        while let Some((number, field)) = fields.field()? {
            match number {
                // -1 says that there is none.
                1 => self.device_ordinal = i32::try_from(field.int()?).ok().filter(|&ordinal| ordinal >= 0),
                4 => self.replicas = count(field)?.max(1),
                5 => self.partitions = count(field)?.max(1),
                6 => self.use_spmd_partitioning = field.bool()?,
                9 => self.device_assignment = Some(read_assignment(field.message()?)?),
                12 => flags(field, &mut self.propagate_sharding_to_outputs)?,
                18 => flags(field, &mut self.propagate_sharding_to_parameters)?,
                19 => self.use_shardy_partitioner = field.bool()?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The error with the code for bytes that the client made wrong.
pub(crate) fn invalid(error: Error) -> Error {
    Error::invalid_argument(error.message())
}

/// More devices than any program has: no message may ask for more memory than it is worth.
pub(crate) const MOST_DEVICES: usize = 1 << 20;

fn count(field: Field<'_>) -> Result<usize> {
    let count = usize::try_from(field.int()?).ok().filter(|&count| count <= MOST_DEVICES);
    count.ok_or_else(|| {
        let message = format!("the numbers of replicas, partitions and devices must be between 0 and {MOST_DEVICES}");
        Error::invalid_argument(message)
    })
}

fn flags(field: Field<'_>, out: &mut Vec<bool>) -> Result<()> {
    let mut numbers = Vec::new();
    field.ints(&mut numbers)?;
    out.extend(numbers.into_iter().map(|number| number != 0));
    Ok(())
}

/// `DeviceAssignmentProto`: a list of replicas' devices for each partition.
fn read_assignment(mut fields: Reader<'_>) -> Result<DeviceAssignment> {
    let (mut replicas, mut partitions, mut columns) = (0, 0, Vec::new());
    while let Some((number, field)) = fields.field()? {
        match number {
            1 => replicas = count(field)?,
            2 => partitions = count(field)?,
            3 => {
                let (mut column, mut devices) = (Vec::new(), field.message()?);
                while let Some((number, field)) = devices.field()? {
                    if number == 1 {
                        field.ints(&mut column)?;
                    }
                }
                columns.push(column);
            }
            _ => {}
        }
    }
    if columns.len() != partitions || columns.iter().any(|column| column.len() != replicas) {
        return Err(Error::invalid_argument(
            "the device assignment does not list {partitions} partitions of {replicas} replicas",
        ));
    }
    let places = (0..replicas).flat_map(|replica| columns.iter().map(move |column| column[replica]));
    let id = |id| {
        i32::try_from(id)
            .map(DeviceId)
            .map_err(|_| Error::invalid_argument("the device assignment has a device id over 32 bits"))
    };
    Ok(DeviceAssignment { replicas, partitions, devices: places.map(id).collect::<Result<_>>()? })
}

/// An entry of `env_option_overrides`: a name, and an `OptionOverrideProto`.
fn read_override(mut fields: Reader<'_>) -> Result<(String, Value)> {
    let (mut name, mut value) = (String::new(), Value::String(String::new()));
    while let Some((number, field)) = fields.field()? {
        match number {
            1 => name = field.text()?.to_owned(),
            2 => {
                let mut options = field.message()?;
                while let Some((number, field)) = options.field()? {
                    match number {
                        1 => value = Value::String(field.text()?.to_owned()),
                        2 => value = Value::Bool(field.bool()?),
                        3 => value = Value::Int64(field.int()?),
                        4 => value = Value::Float(field.double()? as f32),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut writer = Writer::default();
        write(&mut writer);
        writer.finish()
    }

    #[test]
    fn what_jax_sends() {
        let bytes = options(|proto| {
            proto.nested(3, |build| {
                build.int(1, -1);
                build.bytes(3, b"\x01\x02skipped");
                build.int(4, 2);
                build.int(5, 3);
                build.int(6, 1);
                build.nested(9, |assignment| {
                    assignment.int(1, 2);
                    assignment.int(2, 3);
                    for column in [[0u8, 3], [1, 4], [2, 5]] {
                        assignment.nested(3, |devices| _ = devices.bytes(1, column));
                    }
                });
                build.bytes(12, [1, 0]);
                build.int(18, 1);
                build.int(19, 1);
            });
            proto.nested(7, |entry| {
                entry.bytes(1, b"xla_flag");
                entry.nested(2, |value| _ = value.int(2, 1));
            });
        });
        let parsed = CompileOptions::parse(&bytes).unwrap();
        let assignment = parsed.device_assignment.unwrap();
        assert_eq!((assignment.replicas, assignment.partitions), (2, 3));
        assert_eq!(assignment.devices, [0, 1, 2, 3, 4, 5].map(DeviceId));
        assert_eq!(assignment.logical_ids(4), (1, 1));
        assert_eq!(read_assignment(Reader::new(&assignment.serialize())).unwrap(), assignment);
        assert_eq!((parsed.replicas, parsed.partitions, parsed.device_ordinal), (2, 3, None));
        assert!(parsed.use_spmd_partitioning && parsed.use_shardy_partitioner && !parsed.tupled_parameters);
        assert_eq!(parsed.propagate_sharding_to_outputs, [true, false]);
        assert_eq!(parsed.overrides, [("xla_flag".to_owned(), Value::Bool(true))]);
        assert_eq!(parsed.bytes, bytes);
    }

    #[test]
    fn defaults_and_nonsense() {
        let parsed = CompileOptions::parse(&[]).unwrap();
        assert_eq!(parsed, CompileOptions::default());
        let negative = options(|proto| _ = proto.nested(3, |build| _ = build.int(4, -1)));
        let huge = options(|proto| {
            proto.nested(3, |build| _ = build.nested(9, |assignment| _ = assignment.int(1, 1 << 40)));
        });
        let ragged = options(|proto| {
            proto.nested(3, |build| {
                build.nested(9, |assignment| {
                    assignment.int(1, 2);
                    assignment.int(2, 1);
                });
            });
        });
        for bytes in [b"invalid options".to_vec(), negative, huge, ragged] {
            assert!(CompileOptions::parse(&bytes).is_err(), "{bytes:?}");
        }
    }
}
