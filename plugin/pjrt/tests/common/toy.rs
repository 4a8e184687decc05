//! A toy platform: integers on devices that are threads. Its programs are lines of text.
//!
//! ```text
//! program increment         the name
//! param s32[4] donated      each parameter
//! add 1                     steps that change the first parameter, or the sum of all
//! ```
#![forbid(unsafe_code)]

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use bytemuck::{cast_slice, cast_slice_mut};
use oxcall::sync::Mutex;
use oxcall_pjrt::{
    Argument, Attributes, Buffer, CallContext, Client, CompileOptions, CompiledMemoryStats, CustomCall,
    DeviceAssignment, DeviceDescription, DeviceId, ElementType, Error, Event, Executable, Execution, ExecutionOptions,
    HostDestination, HostSource, Launch, Layout, MemoryDescription, MemoryId, MemoryStats, Platform, Program, Promise,
    Result, Shape, TensorMut, TensorRef, TensorSpec, Topology, Value,
};

/// The platform.
pub(crate) struct Toy;

/// What handlers get as their stream.
#[derive(Debug)]
pub(crate) struct ToyStream {
    pub(crate) device: i32,
    /// How many jobs it ran.
    pub(crate) jobs: AtomicI64,
}

const KIND: &str = "device";

impl Platform for Toy {
    type Client = ToyClient;

    fn name() -> &'static str {
        "toy"
    }

    fn version() -> &'static str {
        "toy 1.0"
    }

    fn stablehlo_versions() -> RangeInclusive<[i64; 3]> {
        [0, 9, 0]..=[1, 13, 0]
    }

    fn attributes() -> Attributes {
        vec![("toy_attribute".into(), true.into())]
    }

    fn create_client(options: &[(String, Value)]) -> Result<ToyClient> {
        let (mut devices, mut synchronous) = (2, false);
        for (name, value) in options {
            match (name.as_str(), value) {
                ("num_devices", Value::Int64(count @ 1..=64)) => devices = *count,
                ("synchronous", Value::Bool(flag)) => synchronous = *flag,
                _ => return Err(Error::invalid_argument(format!("unknown option {name} = {value:?}"))),
            }
        }
        Ok(ToyClient {
            topology: topology(devices as i32),
            streams: (0..devices as i32).map(|device| Stream::start(device, synchronous)).collect(),
            used: Arc::default(),
        })
    }

    fn topology(name: &str, _options: &[(String, Value)]) -> Result<Topology> {
        let count = name.strip_prefix("toys:").and_then(|count| count.parse().ok());
        count.map(topology).ok_or_else(|| Error::invalid_argument(format!("unknown topology {name}")))
    }
}

fn topology(devices: i32) -> Topology {
    let memory = |id| MemoryDescription {
        id: MemoryId(id),
        kind: KIND.into(),
        name: format!("toy-memory:{id}"),
        debug_string: format!("memory of toy device {id}"),
    };
    let device = |id| DeviceDescription {
        id: DeviceId(id),
        process_index: 0,
        local_hardware_id: id,
        addressable: true,
        kind: "toy".into(),
        name: format!("toy:{id}"),
        debug_string: format!("toy device {id}"),
        attributes: vec![("coords".into(), vec![i64::from(id), 0].into())],
        memories: vec![MemoryId(id)],
        default_memory: MemoryId(id),
    };
    Topology {
        devices: (0..devices).map(device).collect(),
        memories: (0..devices).map(memory).collect(),
        attributes: vec![("shape".into(), "line".into())],
    }
}

type Job = Box<dyn FnOnce(&ToyStream) + Send>;

/// Runs the jobs of one device in order: on a thread of its own, or on that of the caller.
struct Stream {
    shared: Arc<ToyStream>,
    thread: Option<Mutex<mpsc::Sender<Job>>>,
}

impl Stream {
    fn start(device: i32, synchronous: bool) -> Stream {
        let shared = Arc::new(ToyStream { device, jobs: AtomicI64::new(0) });
        let thread = (!synchronous).then(|| {
            let (sender, jobs) = mpsc::channel::<Job>();
            let stream = shared.clone();
            thread::spawn(move || jobs.into_iter().for_each(|job| job(&stream)));
            Mutex::new(sender)
        });
        Stream { shared, thread }
    }

    fn run(&self, job: Job) {
        match &self.thread {
            Some(sender) => {
                sender.lock().send(job).expect("the thread runs");
            }
            None => job(&self.shared),
        }
    }
}

pub(crate) struct ToyClient {
    topology: Topology,
    streams: Arc<[Stream]>,
    used: Arc<AtomicI64>,
}

/// A tensor, whose contents may come later.
pub(crate) struct ToyBuffer {
    shape: Arc<Shape>,
    device: DeviceId,
    contents: Arc<OnceLock<Contents>>,
    ready: Event,
}

/// Bytes of a device's memory, which counts them.
struct Contents {
    bytes: Vec<u8>,
    used: Arc<AtomicI64>,
}

impl Contents {
    fn new(bytes: Vec<u8>, used: &Arc<AtomicI64>) -> Contents {
        used.fetch_add(bytes.len() as i64, Ordering::Relaxed);
        Contents { bytes, used: used.clone() }
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes.len() as i64, Ordering::Relaxed);
    }
}

impl ToyBuffer {
    fn pending(shape: Arc<Shape>, device: DeviceId) -> (ToyBuffer, Promise) {
        let (promise, ready) = Event::pending();
        (ToyBuffer { shape, device, contents: Arc::default(), ready }, promise)
    }

    fn bytes(&self) -> &[u8] {
        &self.contents.get().expect("the buffer is ready").bytes
    }
}

impl Buffer for ToyBuffer {
    fn shape(&self) -> &Arc<Shape> {
        &self.shape
    }

    fn device(&self) -> DeviceId {
        self.device
    }

    fn memory(&self) -> MemoryId {
        MemoryId(self.device.0)
    }

    fn size_in_bytes(&self) -> Result<usize> {
        Ok(size(&self.shape))
    }

    fn ready_event(&self) -> Event {
        self.ready.clone()
    }

    fn copy_to_host(&self, mut destination: HostDestination) -> Event {
        destination.write(self.bytes());
        Event::ready()
    }

    fn is_on_cpu(&self) -> bool {
        true
    }

    fn address(&self) -> Result<usize> {
        Ok(self.bytes().as_ptr() as usize)
    }
}

impl Client for ToyClient {
    type Buffer = ToyBuffer;
    type Executable = ToyProgram;

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn memory_stats(&self, _device: DeviceId) -> Result<MemoryStats> {
        let bytes_in_use = self.used.load(Ordering::Relaxed);
        Ok(MemoryStats { bytes_in_use, bytes_limit: Some(1 << 30), ..MemoryStats::default() })
    }

    /// The copy runs on the device if the client lets us keep its memory, otherwise at once.
    fn buffer_from_host(
        &self,
        source: HostSource<'_>,
        device: DeviceId,
        _memory: MemoryId,
        layout: Option<&Layout>,
    ) -> Result<ToyBuffer> {
        if layout.is_some_and(|layout| !layout.is_row_major()) {
            return Err(Error::unimplemented("toy devices have row-major tensors only"));
        }
        let (buffer, promise) = ToyBuffer::pending(shape(source.element_type(), source.dims()), device);
        let (contents, used) = (buffer.contents.clone(), self.used.clone());
        let copy = move |source: HostSource<'_>| {
            let mut bytes = vec![0; source.len()];
            source.copy_to(&mut bytes);
            let _ = contents.set(Contents::new(bytes, &used));
            // The client may use its memory again before anybody sees the buffer.
            drop(source);
            promise.complete(Ok(()));
        };
        match source.keep() {
            Ok(kept) => self.streams[device.0 as usize].run(Box::new(move |_| copy(kept))),
            Err(lent) => copy(lent),
        }
        Ok(buffer)
    }

    fn copy_buffer(&self, source: &ToyBuffer, device: DeviceId, _memory: MemoryId) -> Result<ToyBuffer> {
        let (buffer, promise) = ToyBuffer::pending(source.shape.clone(), device);
        let (from, to, used) = (source.contents.clone(), buffer.contents.clone(), self.used.clone());
        source.ready.on_ready(move |outcome| {
            if outcome.is_ok() {
                let bytes = from.get().expect("the source is ready").bytes.clone();
                let _ = to.set(Contents::new(bytes, &used));
            }
            promise.complete(outcome);
        });
        Ok(buffer)
    }

    fn error_buffer(
        &self,
        error: Error,
        element_type: ElementType,
        dims: &[i64],
        device: DeviceId,
        _memory: MemoryId,
    ) -> Result<ToyBuffer> {
        let (buffer, promise) = ToyBuffer::pending(shape(element_type, dims), device);
        promise.complete(Err(error));
        Ok(buffer)
    }

    fn compile(&self, program: Program<'_>, options: &CompileOptions) -> Result<ToyProgram> {
        if program.format != "toy" {
            return Err(program.unknown_format());
        }
        let text = std::str::from_utf8(program.code).map_err(|_| Error::invalid_argument("not a text"))?;
        let default = || self.default_device_assignment(options.replicas, options.partitions);
        let assignment = options.device_assignment.clone().map_or_else(default, Ok)?;
        ToyProgram::parse(text, assignment, self.streams.clone(), self.used.clone())
    }

    fn deserialize(&self, code: &[u8], options: &CompileOptions) -> Result<ToyProgram> {
        self.compile(Program { format: "toy", code }, options)
    }
}

/// A step of a program.
enum Step {
    Add(i32),
    Sum,
    Sleep(Duration),
    Call(CustomCall),
    Fail(String),
    Panic,
}

pub(crate) struct ToyProgram {
    text: String,
    name: String,
    parameters: Vec<TensorSpec>,
    donated: Vec<usize>,
    steps: Arc<[Step]>,
    assignment: DeviceAssignment,
    streams: Arc<[Stream]>,
    used: Arc<AtomicI64>,
}

fn tensor(text: &str) -> Option<TensorSpec> {
    let (element_type, dims) = text.strip_suffix(']')?.split_once('[')?;
    let element_type = ElementType::new(oxcall::DType::from_name(element_type)?);
    let dims: Vec<i64> =
        dims.split(',').filter(|dim| !dim.is_empty()).map(|dim| dim.parse().ok()).collect::<Option<_>>()?;
    Some(TensorSpec { shape: shape(element_type, &dims), memory_kind: KIND.into() })
}

fn shape(element_type: ElementType, dims: &[i64]) -> Arc<Shape> {
    let layout = Layout::row_major(dims.len());
    Arc::new(Shape { element_type, dims: dims.to_vec(), dynamic_dims: Vec::new(), layout })
}

/// The bytes of a tensor.
fn size(shape: &Shape) -> usize {
    shape.dims.iter().product::<i64>() as usize * shape.element_type.host_size()
}

impl ToyProgram {
    fn parse(
        text: &str,
        assignment: DeviceAssignment,
        streams: Arc<[Stream]>,
        used: Arc<AtomicI64>,
    ) -> Result<ToyProgram> {
        let (mut name, mut parameters, mut donated, mut steps) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let broken = || Error::invalid_argument(format!("not a line of a toy program: {line}"));
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "program" => name = rest.to_owned(),
                "param" => {
                    let spec = rest.strip_suffix(" donated").unwrap_or(rest);
                    if spec != rest {
                        donated.push(parameters.len());
                    }
                    parameters.push(tensor(spec).ok_or_else(broken)?);
                }
                "add" => steps.push(Step::Add(rest.parse().map_err(|_| broken())?)),
                "sum" => steps.push(Step::Sum),
                "sleep" => steps.push(Step::Sleep(Duration::from_millis(rest.parse().map_err(|_| broken())?))),
                "call" => steps.push(Step::Call(CustomCall::new(rest, Toy::name(), Vec::new())?)),
                "fail" => steps.push(Step::Fail(rest.to_owned())),
                "panic" => steps.push(Step::Panic),
                "panic_now" => panic!("{rest}"),
                _ => return Err(broken()),
            }
        }
        if parameters.is_empty() {
            return Err(Error::invalid_argument("a toy program has parameters"));
        }
        let steps = steps.into();
        Ok(ToyProgram { text: text.to_owned(), name, parameters, donated, steps, assignment, streams, used })
    }
}

fn integers(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes.chunks_exact(4).map(|word| i32::from_ne_bytes(word.try_into().expect("four bytes")))
}

fn update(bytes: &mut [u8], others: impl IntoIterator<Item = i32>) {
    for (word, other) in bytes.chunks_exact_mut(4).zip(others) {
        let sum = i32::from_ne_bytes(word.try_into().expect("four bytes")).wrapping_add(other);
        word.copy_from_slice(&sum.to_ne_bytes());
    }
}

/// The contents of the first argument: its own memory if that was given away and nobody else has it.
fn first(argument: Argument<ToyBuffer>, used: &Arc<AtomicI64>) -> Contents {
    let copy =
        |contents: &OnceLock<Contents>| Contents::new(contents.get().expect("arguments are ready").bytes.clone(), used);
    match Arc::try_unwrap(argument.buffer) {
        Ok(ToyBuffer { contents, .. }) if argument.donated => match Arc::try_unwrap(contents) {
            Ok(contents) => contents.into_inner().expect("arguments are ready"),
            Err(shared) => copy(&shared),
        },
        Ok(buffer) => copy(&buffer.contents),
        Err(shared) => copy(&shared.contents),
    }
}

fn run(
    steps: &[Step],
    mut arguments: Vec<Argument<ToyBuffer>>,
    used: &Arc<AtomicI64>,
    stream: &ToyStream,
    options: &ExecutionOptions,
) -> Result<Contents> {
    for argument in &arguments {
        argument.buffer.ready.wait()?;
    }
    let shape = arguments[0].buffer.shape.clone();
    let mut contents = first(arguments.remove(0), used);
    for step in steps {
        match step {
            Step::Add(number) => update(&mut contents.bytes, std::iter::repeat(*number)),
            Step::Sum => {
                arguments.iter().for_each(|other| update(&mut contents.bytes, integers(other.buffer.bytes())));
            }
            Step::Sleep(time) => thread::sleep(*time),
            Step::Call(custom_call) => {
                // Handlers get aligned memory.
                let input: Vec<i32> = integers(&contents.bytes).collect();
                let mut output = vec![0; input.len()];
                let dtype = oxcall::DType::S32;
                let argument = TensorRef { dtype, dims: &shape.dims, data: cast_slice(&input) };
                let result = TensorMut { dtype, dims: &shape.dims, data: cast_slice_mut::<i32, _>(&mut output) };
                let context = CallContext {
                    device: DeviceId(stream.device),
                    run_id: options.launch_id.into(),
                    stream: Some(stream),
                    options,
                };
                custom_call.run(&[argument], &mut [result], &context)?;
                contents.bytes.copy_from_slice(cast_slice(&output));
            }
            Step::Fail(message) => return Err(Error::internal(message)),
            Step::Panic => panic!("a step panicked"),
        }
    }
    Ok(contents)
}

impl Executable for ToyProgram {
    type Buffer = ToyBuffer;

    fn name(&self) -> &str {
        &self.name
    }

    fn device_assignment(&self) -> &DeviceAssignment {
        &self.assignment
    }

    fn parameters(&self) -> &[TensorSpec] {
        &self.parameters
    }

    fn outputs(&self) -> &[TensorSpec] {
        &self.parameters[..1]
    }

    fn donated_parameters(&self) -> &[usize] {
        &self.donated
    }

    fn execute(&self, launch: Launch<ToyBuffer>) -> Result<Vec<Execution<ToyBuffer>>> {
        let start = |each: oxcall_pjrt::DeviceLaunch<ToyBuffer>| {
            let spec = &self.parameters[0];
            let (buffer, promise) = ToyBuffer::pending(spec.shape.clone(), each.device);
            let (steps, used, options) = (self.steps.clone(), self.used.clone(), launch.options.clone());
            let contents = buffer.contents.clone();
            self.streams[each.device.0 as usize].run(Box::new(move |stream| {
                stream.jobs.fetch_add(1, Ordering::Relaxed);
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    run(&steps, each.arguments, &used, stream, &options)
                }));
                let outcome = caught.unwrap_or_else(|_| Err(Error::internal("a step panicked")));
                promise.complete(outcome.map(|made| drop(contents.set(made))));
            }));
            let done = buffer.ready.clone();
            Execution { outputs: vec![buffer], done }
        };
        Ok(launch.devices.into_iter().map(start).collect())
    }

    fn fingerprint(&self) -> Result<Vec<u8>> {
        Ok(self.text.clone().into_bytes())
    }

    fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
        Ok(("toy".into(), self.text.clone().into_bytes()))
    }

    fn cost_analysis(&self) -> Result<Attributes> {
        let elements: i64 = self.parameters[0].shape.dims.iter().product();
        Ok(vec![("flops".into(), (elements as f32 * self.steps.len() as f32).into())])
    }

    fn memory_stats(&self) -> Result<CompiledMemoryStats> {
        let size = |spec: &TensorSpec| size(&spec.shape) as i64;
        Ok(CompiledMemoryStats {
            argument_size: self.parameters.iter().map(size).sum(),
            output_size: size(&self.parameters[0]),
            alias_size: self.donated.iter().map(|&index| size(&self.parameters[index])).sum(),
            ..CompiledMemoryStats::default()
        })
    }

    fn serialize(&self) -> Result<Vec<u8>> {
        Ok(self.text.clone().into_bytes())
    }
}
