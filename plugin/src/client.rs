//! The client: an engine, and the devices that share it.

use std::ptr::NonNull;
use std::sync::Arc;

use oxcall::DType;
use oxcall_engine::{Buffer, Dump, Engine, EngineOptions, Trace};
use oxcall_pjrt::{
    Buffer as _, Client, CompileOptions, DeviceAssignment, DeviceId, ElementType, Error, HostSource, Layout,
    LentMemory, MemoryId, MemoryStats, Platform, Program, Result, Topology,
};

use crate::arrays::contents::Contents;
use crate::buffer::{CpuBuffer, program_element, shape};
use crate::executable::CpuExecutable;
use crate::in_flight::InFlight;
use crate::name::platform_name;
use crate::node::Node;
use crate::options::Options;
use crate::platform::CpuPlatform;
use crate::programs::shared::SharedPrograms;
use crate::programs::{stored, xla_options};
use crate::{devices, elements, interrupt, registration};

/// A client of the plugin. Making one starts no thread and reserves no memory.
#[derive(Debug)]
pub(crate) struct CpuClient {
    engine: Arc<Engine>,
    programs: SharedPrograms,
    in_flight: Arc<InFlight>,
    node: Node,
    topology: Topology,
    errors_at_call: bool,
}

impl CpuClient {
    /// A client; its libraries of ops are loaded, and the handlers that are linked in are registered.
    ///
    /// # Errors
    /// Those of the libraries.
    pub(crate) fn new(options: &Options) -> Result<CpuClient> {
        let platform = CpuPlatform::name();
        registration::register_linked()?;
        options.libraries.iter().try_for_each(|path| registration::register_library(path))?;
        let engine = Engine::new(EngineOptions {
            platform: platform.to_owned(),
            num_threads: options.num_threads,
            dump: options.dump.as_deref().map(Dump::new).transpose()?.map(Arc::new),
            trace: options.trace.as_deref().map(Trace::create).transpose()?.map(Arc::new),
            perf_map: options.perf_map,
            collective_timeout: options.collective_timeout,
            cache: options.memory_cache,
            no_jit: !options.jit,
            no_inline: !options.inline,
        });
        if options.interrupt {
            interrupt::install(&engine)?;
        }
        let topology = devices::topology(platform, options.node, options.num_devices, options.global_devices);
        let in_flight = InFlight::new(options.num_devices, options.max_inflight);
        let errors_at_call = options.errors_at_call;
        Ok(CpuClient {
            engine,
            programs: SharedPrograms::default(),
            in_flight,
            node: options.node,
            topology,
            errors_at_call,
        })
    }
}

impl Client for CpuClient {
    type Buffer = CpuBuffer;
    type Executable = CpuExecutable;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn process_index(&self) -> i32 {
        self.node.index
    }

    fn memory_stats(&self, _device: DeviceId) -> Result<MemoryStats> {
        // Who takes the place of JAX's CPU says as little as that does.
        if platform_name() == c"cpu" {
            return Err(Error::unimplemented("memory statistics are not available on the CPU"));
        }
        let used = self.engine.allocator().memory_use();
        Ok(MemoryStats {
            bytes_in_use: used.live as i64,
            peak_bytes_in_use: Some(used.peak as i64),
            num_allocs: Some(used.allocations as i64),
            largest_alloc_size: Some(used.largest as i64),
            bytes_limit: i64::try_from(used.limit).ok(),
            largest_free_block_bytes: Some(used.largest_cached as i64),
            pool_bytes: Some((used.live + used.cached) as i64),
            peak_pool_bytes: Some(used.pool_peak as i64),
            ..MemoryStats::default()
        })
    }

    fn buffer_from_host(
        &self,
        source: HostSource<'_>,
        device: DeviceId,
        memory: MemoryId,
        layout: Option<&Layout>,
    ) -> Result<CpuBuffer> {
        self.check_place(device)?;
        if source.element_type().dtype() == Some(DType::Token) {
            let shape = shape(source.element_type(), &[], None);
            return Ok(CpuBuffer::new(shape, device, memory, self.contents(self.engine.allocate(0)?)));
        }
        let element = program_element(source.element_type())?;
        let shape = shape(source.element_type(), source.dims(), layout);
        let mut buffer = self.engine.allocate(source.len())?;
        if shape.layout.is_row_major() {
            source.copy_to(buffer.as_bytes_mut());
        } else {
            source.copy_to_layout(buffer.as_bytes_mut(), &shape.layout)?;
        }
        elements::clean(element, buffer.as_bytes_mut());
        Ok(CpuBuffer::new(shape, device, memory, self.contents(buffer)))
    }

    fn view_of(
        &self,
        lent: LentMemory,
        element_type: ElementType,
        dims: &[i64],
        layout: Option<&Layout>,
        device: DeviceId,
        memory: MemoryId,
    ) -> Result<CpuBuffer> {
        self.check_place(device)?;
        program_element(element_type)?;
        let shape = shape(element_type, dims, layout);
        let layout = &shape.layout;
        if !layout.tiles.is_empty() {
            return Err(Error::unimplemented(format!("layout {layout}: tiles are not supported")));
        }
        let bytes = lent.as_bytes();
        let buffer = if bytes.is_empty() {
            Buffer::empty()
        } else {
            let (data, len) = (NonNull::from(bytes).cast(), bytes.len());
            // SAFETY: as long as `lent` lives, the client leaves the memory alone.
            unsafe { Buffer::foreign(data, len, Box::new(lent)) }?
        };
        Ok(CpuBuffer::new(shape, device, memory, self.contents(buffer)))
    }

    fn copy_buffer(&self, source: &CpuBuffer, device: DeviceId, memory: MemoryId) -> Result<CpuBuffer> {
        self.check_place(device)?;
        // Contents never change, and all devices share this machine's memory. Who copies within one wants two buffers.
        if (source.device(), source.memory()) == (device, memory) {
            return Ok(source.with_contents(self.duplicate(source.contents())));
        }
        Ok(source.elsewhere(device, memory))
    }

    fn error_buffer(
        &self,
        error: Error,
        element_type: ElementType,
        dims: &[i64],
        device: DeviceId,
        memory: MemoryId,
    ) -> Result<CpuBuffer> {
        self.check_place(device)?;
        program_element(element_type)?;
        Ok(CpuBuffer::new(shape(element_type, dims, None), device, memory, Contents::failed(error)))
    }

    fn compile(&self, program: Program<'_>, options: &CompileOptions) -> Result<CpuExecutable> {
        xla_options::check(&options.overrides)?;
        let assignment = self.assignment(options)?;
        let executable =
            CpuExecutable::new(&self.engine, &self.programs, &self.in_flight, program, options, assignment)?;
        Ok(executable.with_errors_at_call(self.errors_at_call).with_one_device(self.has_one_device()))
    }

    fn deserialize(&self, code: &[u8], options: &CompileOptions) -> Result<CpuExecutable> {
        self.compile(stored::load(code)?, options)
    }
}

impl CpuClient {
    /// The devices of this process.
    fn num_devices(&self) -> usize {
        self.topology.devices.iter().filter(|device| device.addressable).count()
    }

    /// Whether no array is ever put together of several devices' parts.
    fn has_one_device(&self) -> bool {
        self.num_devices() == 1
    }

    /// The contents of an array that is there.
    fn contents(&self, buffer: Buffer) -> Contents {
        if self.has_one_device() { Contents::whole(buffer) } else { Contents::ready(buffer) }
    }

    /// Refuses buffers on devices of other processes.
    fn check_place(&self, device: DeviceId) -> Result<()> {
        self.node.check("the buffer", &[device], self.num_devices())
    }

    /// The same elements in memory of their own.
    fn duplicate(&self, source: &Contents) -> Contents {
        let (filler, copy) = Contents::pending();
        let (engine, source) = (self.engine.clone(), source.clone());
        let event = source.event().clone();
        event.on_ready(move |outcome| {
            let duplicate = || -> Result<Buffer> {
                let source = source.get()?;
                let mut buffer = engine.allocate(source.len())?;
                buffer.as_bytes_mut().copy_from_slice(source.as_bytes());
                Ok(buffer)
            };
            filler.fill(outcome.and_then(|()| duplicate()));
        });
        copy
    }

    /// The devices that a program runs on, one for each partition of each replica.
    fn assignment(&self, options: &CompileOptions) -> Result<DeviceAssignment> {
        let (replicas, partitions) = (options.replicas, options.partitions);
        if partitions > 1 && !options.use_spmd_partitioning {
            let message = format!(
                "num_partitions={partitions} but SPMD partitioning not enabled: set use_spmd_partitioning of the \
                 executable build options, or one partition"
            );
            return Err(Error::invalid_argument(message));
        }
        let count = replicas * partitions;
        let named = options.device_ordinal.filter(|_| count == 1);
        let assignment = options.device_assignment.clone().or(named.map(|id| DeviceAssignment::single(DeviceId(id))));
        let assignment = assignment.map_or_else(|| self.default_device_assignment(replicas, partitions), Ok)?;
        self.node.check("the program", &assignment.devices, self.num_devices())?;
        let mut devices = assignment.devices.clone();
        devices.sort_unstable();
        devices.dedup();
        let known = devices.iter().all(|&device| self.topology.device(device).is_some());
        let counts = (assignment.replicas, assignment.partitions) == (replicas, partitions);
        if !known || !counts || devices.len() != count || assignment.devices.len() != count {
            let message = format!(
                "{replicas} replicas of {partitions} partitions do not fit {assignment:?}: expected {count} different \
                 devices of the client's {}",
                self.num_devices()
            );
            return Err(Error::invalid_argument(message));
        }
        Ok(assignment)
    }
}
