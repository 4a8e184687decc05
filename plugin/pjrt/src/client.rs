//! The interface of a platform's clients.

use crate::options::MOST_DEVICES;
use crate::{
    Buffer, CompileOptions, DeviceAssignment, DeviceId, ElementType, Error, Executable, HostSource, Layout, LentMemory,
    MemoryId, MemoryStats, Result, Topology,
};

/// A program in some format: `mlir` (StableHLO, bytecode or text), `hlo` (a serialized `HloModuleProto`),
/// `hlo_with_config`, or a platform's own.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The name of the format.
    pub format: &'a str,
    /// The program.
    pub code: &'a [u8],
}

/// A connection to the devices. All methods may be called from many threads at once.
pub trait Client: Send + Sync + 'static {
    /// Its buffers.
    type Buffer: Buffer;
    /// Its compiled programs.
    type Executable: Executable<Buffer = Self::Buffer>;

    /// The devices and memories. It never changes.
    fn topology(&self) -> &Topology;

    /// The number of this process among those that run a program together.
    fn process_index(&self) -> i32 {
        0
    }

    /// How a device's memory is used.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform does not know it.
    fn memory_stats(&self, _device: DeviceId) -> Result<MemoryStats> {
        Err(Error::unimplemented("memory statistics are not available on this platform"))
    }

    /// Forgets the peaks of [`memory_stats`](Client::memory_stats).
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform has none.
    fn clear_memory_stats(&self, _device: DeviceId) -> Result<()> {
        Err(Error::unimplemented("memory statistics are not available on this platform"))
    }

    /// The devices for a program of so many replicas and partitions: by default one after the other, from the first
    /// again after the last.
    ///
    /// # Errors
    /// If the platform cannot place the program.
    fn default_device_assignment(&self, replicas: usize, partitions: usize) -> Result<DeviceAssignment> {
        let devices = &self.topology().devices;
        if devices.is_empty() {
            return Err(Error::failed_precondition("the platform has no devices to place a program on"));
        }
        let count = replicas.checked_mul(partitions).filter(|&count| count <= MOST_DEVICES).ok_or_else(|| {
            let message = format!("{replicas} replicas of {partitions} partitions exceed {MOST_DEVICES} devices");
            Error::invalid_argument(message)
        })?;
        let ids = (0..count).map(|index| devices[index % devices.len()].id);
        Ok(DeviceAssignment { replicas, partitions, devices: ids.collect() })
    }

    /// A buffer with the contents of host memory.
    ///
    /// The source is valid during the call, or longer if it can be [kept](HostSource::keep). `layout` is the one that
    /// the caller wants on the device.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` if there is no memory left; `UNIMPLEMENTED` for types and layouts that are not supported.
    fn buffer_from_host(
        &self,
        source: HostSource<'_>,
        device: DeviceId,
        memory: MemoryId,
        layout: Option<&Layout>,
    ) -> Result<Self::Buffer>;

    /// A buffer whose elements lie in memory that the client lends, in the order of `layout`, row-major by default. The
    /// memory is as long as they are, and is given back when it is dropped.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` where devices cannot use such memory, `INVALID_ARGUMENT` where they cannot use this; the client
    /// keeps it then.
    fn view_of(
        &self,
        _lent: LentMemory,
        _element_type: ElementType,
        _dims: &[i64],
        _layout: Option<&Layout>,
        _device: DeviceId,
        _memory: MemoryId,
    ) -> Result<Self::Buffer> {
        Err(Error::unimplemented("views of host memory are not supported on this platform"))
    }

    /// A copy of a buffer, possibly one of another client of this platform, in another memory. The source may not be
    /// ready yet; its error then becomes the copy's.
    ///
    /// # Errors
    /// If it cannot be copied there.
    fn copy_buffer(&self, source: &Self::Buffer, device: DeviceId, memory: MemoryId) -> Result<Self::Buffer>;

    /// A buffer of this shape whose contents never become ready: everything that depends on it fails with `error`.
    ///
    /// # Errors
    /// `UNIMPLEMENTED` if the platform has no such buffers.
    fn error_buffer(
        &self,
        _error: Error,
        _element_type: ElementType,
        _dims: &[i64],
        _device: DeviceId,
        _memory: MemoryId,
    ) -> Result<Self::Buffer> {
        Err(Error::unimplemented("buffers that hold errors are not supported on this platform"))
    }

    /// Compiles a program.
    ///
    /// # Errors
    /// [`unknown_format`](Program::unknown_format) for formats that the platform does not have; whatever is wrong with
    /// the program.
    fn compile(&self, program: Program<'_>, options: &CompileOptions) -> Result<Self::Executable>;

    /// Loads what [`Executable::serialize`] made, which may come from another process or version, or be nonsense.
    /// `options` are those of the compilation unless the caller gives others.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for bytes that are not such a program, `UNIMPLEMENTED` if the platform cannot load programs.
    fn deserialize(&self, _code: &[u8], _options: &CompileOptions) -> Result<Self::Executable> {
        Err(Error::unimplemented("compiled programs cannot be loaded on this platform"))
    }
}

impl Program<'_> {
    /// The error for formats that a platform does not have, as XLA words it.
    pub fn unknown_format(&self) -> Error {
        Error::invalid_argument(format!("Unknown program format '{}'.", self.format))
    }
}
