//! Compiled programs of the plugin.

use std::{hash::Hasher, sync::Arc};

use oxcall_hlo::Type;
use oxcall_host::{Argument as HostArgument, Engine, ExecuteOptions, Program as HostProgram, UserData, passes::Edge};
use oxcall_pjrt::{
    Argument, Attributes, CompileOptions, CompiledMemoryStats, DeviceAssignment, DeviceLaunch, Error, Event,
    Executable, Execution, ExecutionOptions, Launch, Layout, Program, Result, TensorSpec, Value,
};

use crate::{
    buffer::{Contents, CpuBuffer, Filler, element_type, layout},
    devices, programs, stored,
};

/// A program, which each of its devices runs by itself.
#[derive(Debug)]
pub(crate) struct CpuExecutable {
    program: HostProgram,
    assignment: DeviceAssignment,
    parameters: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
    donated: Vec<usize>,
    /// The program as it came, its format, and the options, for storing it and for its fingerprint.
    code: Vec<u8>,
    format: String,
    options: Vec<u8>,
}

impl CpuExecutable {
    /// Compiles a program.
    ///
    /// # Errors
    /// Those of reading it and of the engine.
    pub(crate) fn new(
        engine: &Arc<Engine>,
        program: Program<'_>,
        options: &CompileOptions,
        assignment: DeviceAssignment,
    ) -> Result<CpuExecutable> {
        let module = programs::read(program)?;
        if assignment.devices.len() > 1 && programs::asks_for_device(&module) {
            return Err(Error::unimplemented("programs of several devices that ask which one they run on"));
        }
        let compiled = engine.compile(module)?;
        let specs = |edges: &[Edge]| edges.iter().map(spec).collect::<Result<Vec<_>>>();
        let info = compiled.parameter_info();
        Ok(CpuExecutable {
            parameters: specs(compiled.parameters())?,
            outputs: specs(compiled.results())?,
            donated: (0..info.len()).filter(|&index| info[index].donated).collect(),
            program: compiled,
            assignment,
            code: program.code.to_vec(),
            format: program.format.to_owned(),
            options: options.bytes.clone(),
        })
    }

    /// Starts the program on its device.
    fn start(&self, launch: DeviceLaunch<CpuBuffer>, options: &ExecutionOptions) -> Result<Execution<CpuBuffer>> {
        for (index, (argument, edge)) in launch.arguments.iter().zip(self.program.parameters()).enumerate() {
            if !argument.buffer.is_of(edge) {
                let order = layout(edge).map(|layout| format!(" in the layout {layout}")).unwrap_or_default();
                return Err(Error::invalid_argument(format!(
                    "argument {index} is {:?}, but the program {} takes {}{order}",
                    argument.buffer,
                    self.program.name(),
                    edge.ty
                )));
            }
        }
        let device = launch.device;
        let (fillers, contents): (Vec<_>, Vec<_>) = self.outputs.iter().map(|_| Contents::pending()).unzip();
        let (promise, done) = Event::pending();
        let finish = move |outcome: Result<Vec<oxcall_host::Buffer>>| {
            promise.complete(fill(fillers, outcome));
        };
        let options = ExecuteOptions {
            device_ordinal: device.0,
            run_id: (options.launch_id != 0).then_some(i64::from(options.launch_id)),
            user_data: options
                .user_data
                .iter()
                // SAFETY: the caller of the C API keeps the data alive, and lets handlers use it on any thread.
                .map(|data| unsafe { UserData::new(data.type_id, std::ptr::with_exposed_provenance_mut(data.address)) })
                .collect(),
            ..ExecuteOptions::default()
        };
        let arguments = launch.arguments;
        let ready = Event::all(arguments.iter().map(|argument| argument.buffer.contents().event().clone()));
        match ready.outcome() {
            Some(Ok(())) => run(&self.program, arguments, options, finish),
            Some(Err(error)) => finish(Err(error)),
            None => {
                let program = self.program.clone();
                ready.on_ready(move |outcome| match outcome {
                    Ok(()) => run(&program, arguments, options, finish),
                    Err(error) => finish(Err(error)),
                });
            }
        }
        let outputs = contents.into_iter().zip(self.program.results());
        let outputs = outputs.map(|(contents, edge)| {
            let buffer = CpuBuffer::new(edge.ty.tensor(), device, devices::memory_of(device), contents)?;
            Ok(buffer.with_layout(layout(edge)))
        });
        Ok(Execution { outputs: outputs.collect::<Result<_>>()?, done })
    }
}

/// Runs a program whose arguments are there.
fn run(
    program: &HostProgram,
    arguments: Vec<Argument<CpuBuffer>>,
    options: ExecuteOptions,
    finish: impl FnOnce(Result<Vec<oxcall_host::Buffer>>) + Send + 'static,
) {
    let arguments: Result<Vec<_>> = arguments.into_iter().map(host_argument).collect();
    match arguments {
        Ok(arguments) => program.execute(arguments, &options, finish),
        Err(error) => finish(Err(error)),
    }
}

/// The memory of an argument: the program may write it if it is donated and nobody else holds it.
fn host_argument(argument: Argument<CpuBuffer>) -> Result<HostArgument> {
    let shared = match Arc::try_unwrap(argument.buffer) {
        Ok(buffer) if argument.donated => {
            let contents = buffer.into_contents().take()?;
            match Arc::try_unwrap(contents) {
                Ok(owned) => return Ok(HostArgument::from(owned)),
                Err(shared) => shared,
            }
        }
        Ok(buffer) => buffer.contents().get()?,
        Err(buffer) => buffer.contents().get()?,
    };
    Ok(HostArgument::from(shared))
}

/// Hands the results, or copies of the error, to the buffers that wait for them.
fn fill(fillers: Vec<Filler>, outcome: Result<Vec<oxcall_host::Buffer>>) -> Result<()> {
    match outcome {
        Ok(buffers) => fillers.into_iter().zip(buffers).for_each(|(filler, buffer)| filler.fill(Ok(buffer))),
        Err(error) => {
            let copy = || Error::new(error.code(), error.message());
            fillers.into_iter().for_each(|filler| filler.fill(Err(copy())));
            return Err(error);
        }
    }
    Ok(())
}

fn spec(edge: &Edge) -> Result<TensorSpec> {
    let (element_type, dims) = match &edge.ty {
        Type::Tensor(tensor) => (element_type(tensor.element)?, tensor.dims.iter().map(|&dim| dim as i64).collect()),
        _ => (oxcall_pjrt::ElementType::TOKEN, Vec::new()),
    };
    let layout = layout(edge).unwrap_or_else(|| Layout::row_major(dims.len()));
    Ok(TensorSpec { element_type, dims, layout, memory_kind: devices::MEMORY_KIND.to_owned() })
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

    fn donated_parameters(&self) -> &[usize] {
        &self.donated
    }

    fn execute(&self, launch: Launch<CpuBuffer>) -> Result<Vec<Execution<CpuBuffer>>> {
        let Launch { devices, options } = launch;
        devices.into_iter().map(|device| self.start(device, &options)).collect()
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
        // JAX asks for it whenever it compiles. It takes milliseconds to read a program in the format `mlir`, and next to
        // nothing to read a proto.
        let module = self.program.module();
        Ok(match oxcall_hlo::write_hlo_proto(module) {
            Some(proto) => ("hlo_with_config".to_owned(), proto),
            None => ("mlir".to_owned(), module.to_string().into_bytes()),
        })
    }

    fn cost_analysis(&self) -> Result<Attributes> {
        let cost = self.program.cost();
        Ok(vec![
            ("flops".to_owned(), Value::Float(cost.flops as f32)),
            ("bytes accessed".to_owned(), Value::Float(cost.bytes as f32)),
        ])
    }

    fn memory_stats(&self) -> Result<CompiledMemoryStats> {
        let stats = self.program.memory_stats();
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
