//! Compiled programs of the plugin.

use std::hash::Hasher;
use std::sync::Arc;

use oxcall::DType;
use oxcall_engine::{
    Argument as EngineArgument, Engine, Era, ExecuteOptions, IoSpec, Process, ProcessGrid, Program as EngineProgram,
    UserData,
};
use oxcall_hlo::Type;
use oxcall_pjrt::{
    Argument, Attributes, Buffer, CompileOptions, CompiledMemoryStats, DeviceAssignment, DeviceId, DeviceLaunch,
    ElementType, Error, Event, Executable, Execution, ExecutionOptions, Launch, Layout, OpSharding, Program, Result,
    Shape, TensorSpec, Value,
};
use smallvec::{SmallVec, smallvec};

use crate::arrays::contents::Contents;
use crate::arrays::partition;
use crate::arrays::partition::Partition;
use crate::arrays::results::Results;
use crate::buffer::{CpuBuffer, element_type, layout};
use crate::devices::{MemoryKind, memory_kinds};
use crate::in_flight::{InFlight, Permit};
use crate::node::Node;
use crate::programs::analysis::Operations;
use crate::programs::shared::SharedPrograms;
use crate::programs::stored;
use crate::{callbacks, programs};

/// A program, which each of its devices runs by itself, or which runs once for all partitions of a replica.
#[derive(Debug)]
pub(crate) struct CpuExecutable {
    program: EngineProgram,
    in_flight: Arc<InFlight>,
    assignment: DeviceAssignment,
    /// How arrays are split, if there are several partitions.
    partition: Option<Arc<Partition>>,
    /// Whether each device runs the program on arrays of its own.
    per_device: bool,
    /// Whether its client has one device, so that no array is ever put together of the results.
    has_one_device: bool,
    parameters: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
    /// The kinds of the results' memories.
    output_memories: Vec<MemoryKind>,
    donated: Vec<usize>,
    /// The dynamic dimensions of parameters, with the size for arguments that are as large as the bound.
    parameter_sizes: Vec<(DynamicDim, Contents)>,
    /// The dynamic dimensions of results.
    output_sizes: Vec<DynamicDim>,
    /// Whether it calls functions of Python.
    calls_back: bool,
    /// Whether executions that have failed before their call returns fail the call.
    errors_at_call: bool,
    /// The program as it came, its format, and the options, for storing it and for its fingerprint.
    code: Vec<u8>,
    format: String,
    options: Vec<u8>,
}

/// A dynamic dimension of a parameter or result.
#[derive(Debug, Clone, Copy)]
struct DynamicDim {
    /// The parameter or result.
    index: usize,
    /// The dimension.
    dim: usize,
}

impl DynamicDim {
    /// Those of some parameters or results, in the order in which a program takes or gives their sizes.
    fn all_of(specs: &[IoSpec]) -> Vec<DynamicDim> {
        let each = |(index, spec): (usize, &IoSpec)| {
            spec.dynamic.iter().map(move |&dim| DynamicDim { index, dim }).collect::<Vec<_>>()
        };
        specs.iter().enumerate().flat_map(each).collect()
    }
}

impl CpuExecutable {
    /// Compiles a program.
    ///
    /// # Errors
    /// Those of reading it and of the engine.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        shared: &SharedPrograms,
        in_flight: &Arc<InFlight>,
        program: Program<'_>,
        options: &CompileOptions,
        assignment: DeviceAssignment,
    ) -> Result<CpuExecutable> {
        let module = programs::read(program)?;
        let calls_back = callbacks::calls_back(&module);
        let grid = ProcessGrid { replicas: assignment.replicas, partitions: assignment.partitions };
        let (compiled, per_device, partition) = match assignment.partitions {
            0 | 1 => (engine.compile_for(module, grid)?, true, None),
            _ => {
                let compiled = engine.compile_partitioned(module, grid, &partition::sharding_options(options))?;
                (compiled.program, compiled.per_device, Some(Partition::new(engine, compiled.shardings)?))
            }
        };
        let compiled = shared.share(compiled, &assignment.devices);
        let main = compiled.module().main();
        let [parameter_memories, output_memories] =
            [memory_kinds(&main.param_attributes)?, memory_kinds(&main.result_attributes)?];
        let whole = |_, ty: &Type| ty.clone();
        let (parameters, outputs) = match &partition {
            None => (
                specs(compiled.parameters(), &parameter_memories, whole)?,
                specs(compiled.results(), &output_memories, whole)?,
            ),
            Some(partition) => (
                specs(compiled.parameters(), &parameter_memories, |index, ty| partition.parameter_type(index, ty))?,
                specs(compiled.results(), &output_memories, |index, ty| partition.result_type(index, ty))?,
            ),
        };
        let output_sizes = DynamicDim::all_of(compiled.results());
        let with_bound = |dynamic: DynamicDim| -> Result<_> {
            let mut bound = engine.allocate(size_of::<i32>())?;
            let size = parameters[dynamic.index].shape.dims[dynamic.dim] as i32;
            bound.as_bytes_mut().copy_from_slice(&size.to_le_bytes());
            Ok((dynamic, Contents::ready(bound)))
        };
        let parameter_sizes: Vec<_> =
            DynamicDim::all_of(compiled.parameters()).into_iter().map(with_bound).collect::<Result<_>>()?;
        if partition.is_some() && !(parameter_sizes.is_empty() && output_sizes.is_empty()) {
            let message = "parameters or results of dynamic shape are not supported in programs of several partitions";
            return Err(Error::unimplemented(message));
        }
        let in_memory = |partition: Partition| {
            if per_device { Ok(partition) } else { partition.in_memory(compiled.parameters(), compiled.results()) }
        };
        let partition = partition.map(in_memory).transpose()?.map(Arc::new);
        let info = compiled.parameter_info();
        Ok(CpuExecutable {
            parameter_sizes,
            output_sizes,
            parameters,
            outputs,
            output_memories,
            partition,
            per_device,
            has_one_device: false,
            donated: (0..info.len()).filter(|&index| info[index].donated).collect(),
            program: compiled,
            in_flight: in_flight.clone(),
            calls_back,
            errors_at_call: false,
            assignment,
            code: program.code.to_vec(),
            format: program.format.to_owned(),
            options: options.bytes.clone(),
        })
    }

    /// The same program, whose executions fail their call if they have failed before it returns, or leave that to their
    /// results.
    pub(crate) fn with_errors_at_call(self, errors_at_call: bool) -> CpuExecutable {
        CpuExecutable { errors_at_call, ..self }
    }

    /// The same program of a client of one device, or of several.
    pub(crate) fn with_one_device(self, has_one_device: bool) -> CpuExecutable {
        CpuExecutable { has_one_device, ..self }
    }

    /// Checks the types of a device's arguments.
    fn check(&self, launch: &DeviceLaunch<CpuBuffer>) -> Result<()> {
        for (index, (argument, spec)) in launch.arguments.iter().zip(&self.parameters).enumerate() {
            let Shape { element_type, dims, dynamic_dims, layout } = &*spec.shape;
            let varying = &argument.buffer.shape().dynamic_dims;
            if !argument.buffer.is_of(&spec.shape) || !varying.iter().all(|dim| dynamic_dims.contains(dim)) {
                let order = (!layout.is_row_major()).then(|| format!(" in the layout {layout}"));
                return Err(Error::invalid_argument(format!(
                    "argument {index} is {:?}, but the program {} takes {}{:?}{}",
                    argument.buffer,
                    self.program.name(),
                    element_type,
                    dims,
                    order.unwrap_or_default(),
                )));
            }
        }
        Ok(())
    }

    /// Starts the program on a device that runs it by itself.
    fn start(
        &self,
        runner: Runner,
        permit: Permit,
        launch: DeviceLaunch<CpuBuffer>,
        options: ExecuteOptions,
    ) -> Result<Execution<CpuBuffer>> {
        let DeviceLaunch { device, arguments } = launch;
        let ready = Event::all(arguments.iter().map(|argument| argument.buffer.contents().event()));
        let given = self
            .parameter_sizes
            .iter()
            .map(|(dynamic, bound)| arguments[dynamic.index].buffer.size(dynamic.dim).unwrap_or(bound).clone());
        let given: Vec<Contents> = given.collect();
        let arguments = move || {
            let mut all = Vec::with_capacity(arguments.len() + given.len());
            for argument in arguments {
                all.push(host_argument(argument)?);
            }
            for size in given {
                all.push(EngineArgument::from(size.get()?));
            }
            Ok(all)
        };
        // As on XLA's CPU, the call lasts as long as its callbacks, unless it has to wait for arguments or other
        // devices.
        let waits = self.calls_back && matches!(runner, Runner::Alone(_)) && ready.is_ready();
        let results = runner.launch(permit, ready, arguments, options);
        let count = self.outputs.len() + self.output_sizes.len();
        let (mut contents, done): (Vec<_>, Event) = match results.now() {
            Some(Ok(buffers)) => {
                let contents = if self.has_one_device { Contents::whole } else { Contents::ready };
                (buffers.into_iter().map(contents).collect(), Event::ready())
            }
            Some(Err(error)) => ((0..count).map(|_| Contents::failed(error.clone())).collect(), Event::failed(error)),
            None => {
                let (fillers, contents) = (0..count).map(|_| Contents::pending()).unzip();
                let done = results.fill_in(fillers);
                if waits {
                    // The caller learns of a failure by the event.
                    let _ = callbacks::without_gil(|| done.wait());
                }
                (contents, done)
            }
        };
        let sizes = contents.split_off(self.outputs.len());
        let mut outputs = self.buffers(device, contents);
        for (dynamic, size) in self.output_sizes.iter().zip(sizes) {
            outputs[dynamic.index].push_size(size);
        }
        Ok(Execution { outputs, done: self.in_order(device, done) })
    }

    /// The end of an execution as the client sees it.
    fn in_order(&self, device: DeviceId, done: Event) -> Event {
        if self.calls_back { callbacks::after_earlier(device, done) } else { done }
    }

    /// Starts the program once for all partitions of a replica.
    fn start_partitions(
        &self,
        runner: Runner,
        permit: Permit,
        partition: &Arc<Partition>,
        launches: Vec<DeviceLaunch<CpuBuffer>>,
        options: ExecuteOptions,
    ) -> Result<Vec<Execution<CpuBuffer>>> {
        let devices: Vec<DeviceId> = launches.iter().map(|launch| launch.device).collect();
        let ready = partition::ready(&launches);
        let gather = partition.clone();
        let results = runner.launch(permit, ready, move || gather.gather(launches), options);
        let (fillers, contents) = partition.pending();
        let done = results.fill_in(fillers);
        let mut contents: Vec<_> = contents.into_iter().map(Vec::into_iter).collect();
        let execution = |device| {
            let contents = contents.iter_mut().filter_map(Iterator::next).collect();
            Execution { outputs: self.buffers(device, contents), done: self.in_order(device, done.clone()) }
        };
        Ok(devices.into_iter().map(execution).collect())
    }

    /// How whole arrays are split, if the program runs on these.
    fn splits_arrays(&self) -> Option<&Arc<Partition>> {
        self.partition.as_ref().filter(|_| !self.per_device)
    }

    /// The runners of the program for one call: one for each device, or one for each replica.
    fn runners(&self, devices: &[DeviceId], options: &ExecutionOptions) -> Result<SmallVec<[Runner; 1]>> {
        let runners = match self.splits_arrays() {
            None => self.assignment.devices.len(),
            Some(_) => self.assignment.replicas,
        };
        if runners == 1 {
            return Ok(smallvec![Runner::Alone(self.program.clone())]);
        }
        if devices.len() == self.assignment.devices.len() {
            return Ok(self.program.processes().into_iter().map(Runner::Process).collect());
        }
        // Each device is started by a call of its own.
        let place = |device| self.assignment.devices.iter().position(|each| each == device);
        match devices.first().and_then(place) {
            Some(place) if self.splits_arrays().is_none() => {
                let launch = (options.launch_id != 0).then_some(i64::from(options.launch_id));
                Ok(smallvec![Runner::Process(self.program.process(place, launch))])
            }
            _ => Err(Error::invalid_argument(format!(
                "the program {} was not compiled for this device",
                self.program.name()
            ))),
        }
    }

    /// The results of a device.
    fn buffers(&self, device: DeviceId, contents: Vec<Contents>) -> Vec<CpuBuffer> {
        let outputs = self.outputs.iter().zip(&self.output_memories);
        let buffer = |((output, memory), contents): ((&TensorSpec, &MemoryKind), Contents)| {
            CpuBuffer::new(output.shape.clone(), device, memory.of(device), contents)
        };
        outputs.zip(contents).map(buffer).collect()
    }
}

fn execute_options(device: DeviceId, era: Era, options: &ExecutionOptions) -> ExecuteOptions {
    ExecuteOptions {
        era: Some(era),
        device_ordinal: Node::place(device),
        run_id: (options.launch_id != 0).then_some(i64::from(options.launch_id)),
        user_data: options
            .user_data
            .iter()
            // SAFETY: the caller of the C API keeps the data alive, and lets handlers use it on any thread.
            .map(|data| unsafe { UserData::new(data.type_id, std::ptr::with_exposed_provenance_mut(data.address)) })
            .collect(),
        ..ExecuteOptions::default()
    }
}

/// A runner of a program.
enum Runner {
    /// Nobody else.
    Alone(EngineProgram),
    /// One of several, which wait for each other.
    Process(Process),
}

impl Runner {
    /// Runs the program when its arguments are there.
    fn launch(
        self,
        permit: Permit,
        ready: Event,
        arguments: impl FnOnce() -> Result<Vec<EngineArgument>> + Send + 'static,
        options: ExecuteOptions,
    ) -> Results {
        let results = Results::default();
        let ending = results.clone();
        let finish = move |outcome: Result<Vec<oxcall_engine::Buffer>>| {
            // What its end calls may launch the next one.
            drop(permit);
            ending.end(outcome);
        };
        match ready.outcome() {
            Some(outcome) => self.run(outcome.and_then(|()| arguments()), &options, finish),
            None => {
                ready.on_ready(move |outcome| self.run(outcome.and_then(|()| arguments()), &options, finish));
            }
        }
        results
    }

    fn run(
        self,
        arguments: Result<Vec<EngineArgument>>,
        options: &ExecuteOptions,
        finish: impl FnOnce(Result<Vec<oxcall_engine::Buffer>>) + Send + 'static,
    ) {
        match (self, arguments) {
            (Runner::Alone(program), Ok(arguments)) => program.execute(arguments, options, finish),
            (Runner::Alone(_), Err(error)) => finish(Err(error)),
            (Runner::Process(process), Ok(arguments)) => process.execute(arguments, options, finish),
            (Runner::Process(process), Err(error)) => process.fail(error, finish),
        }
    }
}

/// Whether an argument has its elements.
fn is_there(argument: &Argument<CpuBuffer>) -> bool {
    matches!(argument.buffer.contents().event().outcome(), Some(Ok(())))
}

/// The error of one that has failed already.
fn failure(executions: &[Execution<CpuBuffer>]) -> Option<Error> {
    executions.iter().find_map(|execution| execution.done.outcome()?.err())
}

/// The memory of an argument: the program may write it if it is donated and has no other holder.
fn host_argument(argument: Argument<CpuBuffer>) -> Result<EngineArgument> {
    let shared = match Arc::try_unwrap(argument.buffer) {
        Ok(buffer) if argument.donated => {
            let contents = buffer.into_contents().take()?;
            match Arc::try_unwrap(contents) {
                Ok(owned) => return Ok(EngineArgument::from(owned)),
                Err(shared) => shared,
            }
        }
        Ok(buffer) => buffer.contents().get()?,
        Err(buffer) => buffer.contents().get()?,
    };
    Ok(EngineArgument::from(shared))
}

/// Parameters or results as each device has them, whose types `part` gives.
fn specs(specs: &[IoSpec], memories: &[MemoryKind], part: impl Fn(usize, &Type) -> Type) -> Result<Vec<TensorSpec>> {
    let specs = specs.iter().zip(memories).enumerate();
    specs.map(|(index, (io, &memory))| spec(io, &part(index, &io.ty), memory)).collect()
}

fn spec(io: &IoSpec, ty: &Type, memory: MemoryKind) -> Result<TensorSpec> {
    let (element_type, dims) = match ty {
        Type::Tensor(tensor) => (element_type(tensor.element)?, tensor.dims.iter().map(|&dim| dim as i64).collect()),
        _ => (ElementType::new(DType::Token), Vec::new()),
    };
    let layout = layout(io).unwrap_or_else(|| Layout::row_major(dims.len()));
    let shape = Arc::new(Shape { element_type, dims, dynamic_dims: io.dynamic.clone(), layout });
    Ok(TensorSpec { shape, memory_kind: memory.name().to_owned() })
}

impl Executable for CpuExecutable {
    type Buffer = CpuBuffer;

    fn name(&self) -> &str {
        self.program.name()
    }

    fn device_assignment(&self) -> &DeviceAssignment {
        &self.assignment
    }

    fn parameters(&self) -> &[TensorSpec] {
        &self.parameters
    }

    fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }

    fn parameter_shardings(&self) -> Option<&[OpSharding]> {
        self.partition.as_ref().map(|partition| &*partition.parameter_shardings)
    }

    fn output_shardings(&self) -> Option<&[OpSharding]> {
        self.partition.as_ref().map(|partition| &*partition.output_shardings)
    }

    fn donated_parameters(&self) -> &[usize] {
        &self.donated
    }

    fn execute(&self, launch: Launch<CpuBuffer>) -> Result<Vec<Execution<CpuBuffer>>> {
        let Launch { mut devices, options } = launch;
        devices.iter().try_for_each(|device| self.check(device))?;
        // As on XLA's CPU, an execution that waited for its arguments leaves its errors to its results.
        let at_call = self.errors_at_call && devices.iter().flat_map(|device| &device.arguments).all(is_there);
        let failed_at_call = |executions: &[_]| at_call.then(|| failure(executions)).flatten().map_or(Ok(()), Err);
        let ids: SmallVec<[DeviceId; 1]> = devices.iter().map(|device| device.device).collect();
        // Before it waits: an interrupt meanwhile is meant for this launch, too.
        let era = Era::now();
        let together = if self.splits_arrays().is_some() { self.assignment.partitions } else { 1 };
        // Devices that are started by calls of their own wait for the others' calls.
        let is_part = ids.len() < self.assignment.devices.len() && self.program.has_collectives();
        let permits = self.in_flight.launch(&ids, together, is_part || self.program.has_custom_calls());
        let mut runners = self.runners(&ids, &options)?.into_iter().zip(permits);
        let options = |device| execute_options(device, era, &options);
        let Some(partition) = self.splits_arrays() else {
            let start = |((runner, permit), device): (_, DeviceLaunch<CpuBuffer>)| {
                let options = options(device.device);
                self.start(runner, permit, device, options)
            };
            let mut executions = Vec::with_capacity(devices.len());
            for execution in runners.zip(devices).map(start) {
                executions.push(execution?);
            }
            return failed_at_call(&executions).map(|()| executions);
        };
        let partitions = self.assignment.partitions;
        if devices.len() != runners.len() * partitions {
            let message = format!(
                "the program {} has {partitions} partitions: run it on all of its devices in one call",
                self.program.name()
            );
            return Err(Error::unimplemented(message));
        }
        let mut executions = Vec::with_capacity(devices.len());
        for (runner, permit) in runners.by_ref() {
            let rest = devices.split_off(partitions);
            let options = options(devices[0].device);
            executions.extend(self.start_partitions(runner, permit, partition, devices, options)?);
            devices = rest;
        }
        failed_at_call(&executions).map(|()| executions)
    }

    fn fingerprint(&self) -> Result<Vec<u8>> {
        // Two hashes of 64 bits; the standard library's is the same in all processes of one build.
        let hash = |salt: u8| {
            let mut hasher = std::hash::DefaultHasher::new();
            hasher.write_u8(salt);
            hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
            hasher.write(&self.code);
            hasher.write(&self.options);
            hasher.finish().to_le_bytes()
        };
        Ok([hash(0), hash(1)].concat())
    }

    fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
        // JAX asks for it whenever it compiles. It takes milliseconds to read a program in the format `mlir`, and next
        // to nothing to read a proto.
        self.program.room_to_write()?;
        let module = self.program.module();
        // Readers would take the shapes of whole arrays for those of the devices' parts.
        let note = self.splits_arrays().map(|_| {
            format!(
                "one program for {} partitions, which runs once, on whole arrays: shapes are not those of the devices' \
                 parts, and there are no collectives but those that the program states",
                self.assignment.partitions
            )
        });
        Ok(match oxcall_hlo::write_hlo_proto(module) {
            Some(mut proto) => {
                proto.extend(self.partition.iter().flat_map(|partition| partition.hlo_shardings()));
                proto.extend(note.iter().flat_map(|note| Partition::hlo_note(note)));
                ("hlo_with_config".to_owned(), proto)
            }
            None => {
                let head = note.map_or(String::new(), |note| format!("// {note}\n"));
                ("mlir".to_owned(), (head + &module.to_string()).into_bytes())
            }
        })
    }

    fn cost_analysis(&self) -> Result<Attributes> {
        let operations = Operations::new(self.program.module());
        let values = [
            ("flops", operations.flops),
            ("transcendentals", operations.transcendentals),
            ("bytes accessed", self.program.cost().bytes),
        ];
        Ok(values.map(|(name, value)| (name.to_owned(), Value::Float(value as f32))).into())
    }

    fn memory_stats(&self) -> Result<CompiledMemoryStats> {
        let mut stats = self.program.memory_stats();
        if let Some(partition) = self.splits_arrays() {
            // What is for one device: its parts, and its share of what the program takes besides.
            let aliased = if stats.aliased == 0 { 0 } else { partition.parameter_bytes(self.donated.iter().copied()) };
            stats.arguments = partition.parameter_bytes(0..self.parameters.len());
            stats.outputs = partition.result_bytes();
            stats.aliased = aliased.min(stats.outputs);
            stats.temporaries /= self.assignment.partitions;
        }
        Ok(CompiledMemoryStats {
            generated_code_size: stats.constants as i64,
            argument_size: stats.arguments as i64,
            output_size: stats.outputs as i64,
            alias_size: stats.aliased as i64,
            temp_size: stats.temporaries as i64,
        })
    }

    fn serialize(&self) -> Result<Vec<u8>> {
        stored::store(Program { format: &self.format, code: &self.code })
    }
}
