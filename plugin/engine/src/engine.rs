//! Engines and programs: the interface for clients of this crate.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use oxcall::Error;
use oxcall_hlo::Module;
use oxcall_kernels::environment::with_default_environment;
use oxcall_kernels::memory::{self, Allocator, Buffer, CacheOptions};
use oxcall_kernels::pool::Cost;
use oxcall_kernels::tile::generated::generated_isa;

use crate::collective::{Clique, ProcessGrid};
use crate::compile;
use crate::compile::partition::{Partitioned, ShardingOptions, Shardings, partition};
use crate::compile::passes::{Interface, IoSpec};
use crate::exec::{self, Argument, Executable, ExecuteOptions, Participant};
use crate::observe::{Dump, PerfMap, Span, Trace};
use crate::plan::{Parameter, Plan};
use crate::runtime::{Runtime, RuntimeOptions, Waits};

/// Options of an engine.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// The platform's name: handlers registered for it take precedence over those for any host.
    pub platform: String,
    /// The number of threads; 0 for one per core.
    pub num_threads: usize,
    /// The directory for programs and plans, which are written as they are compiled; `None` writes none.
    pub dump: Option<Arc<Dump>>,
    /// The file for traces of executions; `None` writes none.
    pub trace: Option<Arc<Trace>>,
    /// Whether `/tmp/perf-<pid>.map` gives `perf` the names of machine code.
    pub perf_map: bool,
    /// The time for which processes wait at a collective for processes that have not been started; `None` for a minute.
    pub collective_timeout: Option<Duration>,
    /// The limits of the freed memory that the engine keeps.
    pub cache: CacheOptions,
    /// Whether fused ops are never compiled to machine code. Their results have the same bits either way.
    pub no_jit: bool,
    /// Whether calls of pointwise functions remain calls. Otherwise they are fused with the ops around them.
    pub no_inline: bool,
}

/// A client's engine: its threads, its memory, and the services for custom calls. Creating one starts no thread and
/// reserves no memory.
#[derive(Debug)]
pub struct Engine {
    runtime: Arc<Runtime>,
    dump: Option<Arc<Dump>>,
}

/// The time for which processes wait for others, unless the engine's options say otherwise.
const COLLECTIVE_TIMEOUT: Duration = Duration::from_secs(60);

impl Engine {
    /// Creates an engine.
    pub fn new(options: EngineOptions) -> Arc<Engine> {
        let EngineOptions { platform, num_threads, dump, trace, perf_map, collective_timeout, cache, .. } = options;
        let collective_timeout = collective_timeout.unwrap_or(COLLECTIVE_TIMEOUT);
        let isa = if options.no_jit { None } else { generated_isa() };
        let inlines = !options.no_inline;
        let (listed, perf_map) = (dump.is_some(), perf_map.then(PerfMap::new));
        let options =
            RuntimeOptions { platform, num_threads, trace, collective_timeout, cache, isa, listed, perf_map, inlines };
        Arc::new(Engine { runtime: Arc::new(Runtime::new(options)), dump })
    }

    /// An engine whose loops are machine code for one set of instructions, or for none.
    #[cfg(test)]
    pub(crate) fn for_isa(isa: Option<oxcall_jit::Isa>) -> Arc<Engine> {
        let collective_timeout = COLLECTIVE_TIMEOUT;
        let (platform, cache) = ("oxcall".to_owned(), CacheOptions::default());
        let (num_threads, trace, listed, perf_map, inlines) = (2, None, false, None, true);
        let options =
            RuntimeOptions { platform, num_threads, trace, collective_timeout, cache, isa, listed, perf_map, inlines };
        Arc::new(Engine { runtime: Arc::new(Runtime::new(options)), dump: None })
    }

    #[cfg(test)]
    pub(crate) fn pool(&self) -> &oxcall_kernels::pool::Pool {
        &self.runtime.pool
    }

    /// The allocator of all buffers and scratch memory.
    pub fn allocator(&self) -> &Arc<Allocator> {
        &self.runtime.allocator
    }

    /// The executions of this engine's programs that wait at a collective. The handle remains usable after the engine
    /// is gone.
    pub fn waits(&self) -> Waits {
        Waits::new(&self.runtime.watch)
    }

    /// A buffer of `len` bytes with unspecified contents.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub fn allocate(&self, len: usize) -> Result<Buffer, Error> {
        Buffer::allocate(self.allocator(), len)
    }

    /// Compiles a verified program for a single process.
    ///
    /// # Errors
    /// Those of [`compile_for`](Engine::compile_for).
    pub fn compile(&self, module: Module) -> Result<Program, Error> {
        self.compile_for(module, ProcessGrid::default())
    }

    /// Compiles a verified program that each process of `grid` will run. Several threads may call it at once.
    ///
    /// # Errors
    /// UNIMPLEMENTED for ops that the engine does not support and NOT_FOUND for an unknown custom call, both with the
    /// op and its location; the errors of a custom call's instantiate stage; RESOURCE_EXHAUSTED if there is no memory
    /// to compile; INTERNAL for a panic.
    pub fn compile_for(&self, module: Module, grid: ProcessGrid) -> Result<Program, Error> {
        caught(|| self.compile_module(module, Clique::all(grid)))
    }

    /// Compiles a verified program of whole arrays, whose parameters and results are sharded over the partitions of
    /// each replica of `grid`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for shardings that do not match the partitions; those of [`compile_for`](Engine::compile_for).
    pub fn compile_partitioned(
        &self,
        module: Module,
        grid: ProcessGrid,
        options: &ShardingOptions,
    ) -> Result<PartitionedProgram, Error> {
        caught(|| {
            let Partitioned { module, per_device, shardings } = partition(module, grid.partitions, options)?;
            let clique = if per_device { Clique::all(grid) } else { Clique::replicas(grid) };
            Ok(PartitionedProgram { program: self.compile_module(module, clique)?, per_device, shardings })
        })
    }

    fn compile_module(&self, module: Module, clique: Clique) -> Result<Program, Error> {
        let started = Instant::now();
        let (plan, interface) = compile::compile(module, clique, &self.runtime, self.dump.as_deref())?;
        if let Some(trace) = &self.runtime.trace {
            let name = format!("compile {}", plan.module.name);
            let args = serde_json::json!({ "steps": plan.steps.len() });
            trace.write(&[Span { name, category: "compile", start: started, end: Instant::now(), args }]);
        }
        let executable = Executable::new(&self.runtime, Arc::new(plan));
        Ok(Program { executable, interface: Arc::new(interface) })
    }
}

/// Calls `compile` in the default floating-point environment; a panic becomes an INTERNAL error.
fn caught<T>(compile: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let compile = AssertUnwindSafe(compile);
    with_default_environment(|| catch_unwind(compile)).unwrap_or_else(|payload| Err(exec::panicked(&*payload)))
}

/// A compiled program whose parameters and results are sharded over partitions.
#[derive(Debug)]
pub struct PartitionedProgram {
    /// The program.
    pub program: Program,
    /// Whether each partition runs it, on its shards; otherwise it runs once for all partitions of a replica, on whole
    /// arrays.
    pub per_device: bool,
    /// The shardings of parameters and results.
    pub shardings: Shardings,
}

/// Checks that there is memory to read and verify a program of `len` bytes of bytecode, or of four times as many bytes
/// in another format.
///
/// # Errors
/// RESOURCE_EXHAUSTED if there is not.
pub fn room_to_read(len: usize) -> Result<(), Error> {
    /// An op of ten bytes of bytecode takes less than this multiple of its size once it has been read.
    const BYTES: usize = 64;
    memory::reserve()?;
    memory::room(len.saturating_mul(BYTES)).map_err(|error| error.context("reading the program"))
}

/// The memory of a program, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// All arguments.
    pub arguments: usize,
    /// All results.
    pub outputs: usize,
    /// All other memory of an execution.
    pub temporaries: usize,
    /// Results that may take the memory of an argument.
    pub aliased: usize,
    /// Constants, which live as long as the program.
    pub constants: usize,
}

/// A compiled program. Clones share it.
#[derive(Clone)]
pub struct Program {
    executable: Arc<Executable>,
    interface: Arc<Interface>,
}

impl Program {
    pub(crate) fn plan(&self) -> &Plan {
        &self.executable.plan
    }

    /// The name of the module.
    pub fn name(&self) -> &str {
        &self.plan().module.name
    }

    /// The module after all passes.
    pub fn module(&self) -> &Module {
        &self.plan().module
    }

    /// The text of the module after all passes.
    pub fn text(&self) -> String {
        oxcall_hlo::print_module(self.module())
    }

    /// Checks that there is memory to write the program, as text or in another format.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if there is not.
    pub fn room_to_write(&self) -> Result<(), Error> {
        memory::room(compile::bytes_to_compile(self.module())).map_err(|error| error.context("writing the program"))
    }

    /// The steps of the plan, one per line.
    pub fn steps(&self) -> String {
        self.plan().to_string()
    }

    /// The parameters.
    pub fn parameters(&self) -> &[IoSpec] {
        &self.interface.parameters
    }

    /// The results.
    pub fn results(&self) -> &[IoSpec] {
        &self.interface.results
    }

    /// For each parameter, its size, whether the caller may donate it, and for which result.
    pub fn parameter_info(&self) -> &[Parameter] {
        &self.plan().parameters
    }

    /// An estimate of the cost of one execution.
    pub fn cost(&self) -> Cost {
        self.plan().cost
    }

    /// The memory of the program.
    pub fn memory_stats(&self) -> MemoryStats {
        let plan = self.plan();
        let outputs: usize = plan.results.iter().map(|&slot| plan.allocations[slot as usize].1).sum();
        let donated = plan.parameters.iter().zip(&plan.written);
        let aliased: usize = donated.filter(|(_, written)| **written).map(|(parameter, _)| parameter.bytes).sum();
        let own: usize = plan.own.iter().sum();
        MemoryStats {
            arguments: plan.parameters.iter().map(|parameter| parameter.bytes).sum(),
            outputs,
            temporaries: plan.arena + (own + aliased).saturating_sub(outputs),
            aliased,
            constants: plan.constants.iter().map(Buffer::len).sum(),
        }
    }

    /// Runs the program and calls `done` with its results: before this method returns if the program is cheap,
    /// otherwise on another thread. The execution uses the arguments' memory at once, so their contents must be
    /// complete.
    ///
    /// `done` gets the errors of kernels and custom calls, INVALID_ARGUMENT for arguments that do not match the
    /// parameters, RESOURCE_EXHAUSTED if memory runs out, CANCELLED after an interrupt, and INTERNAL for a panic. The
    /// program may be run again after any of them.
    pub fn execute(
        &self,
        arguments: Vec<Argument>,
        options: &ExecuteOptions,
        done: impl FnOnce(Result<Vec<Buffer>, Error>) + Send + 'static,
    ) {
        let participant = self.executable.lone_participant();
        exec::launch(&self.executable, arguments, options, participant, Box::new(|outcome| end(done, outcome)));
    }

    /// The grid of processes that run the program.
    pub fn grid(&self) -> ProcessGrid {
        self.plan().cliques[0].grid()
    }

    /// A handle that does not keep the program alive.
    pub fn downgrade(&self) -> WeakProgram {
        let (executable, interface) = (Arc::downgrade(&self.executable), Arc::clone(&self.interface));
        WeakProgram { executable, interface }
    }

    /// The module and the plan as text, without the module's name. Programs with equal identities do the same.
    pub fn identity(&self) -> String {
        let text = self.text();
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        format!("{body}{}", self.plan())
    }

    /// Whether it has custom calls, which may block.
    pub fn has_custom_calls(&self) -> bool {
        let plan = self.plan();
        !plan.calls.is_empty() || plan.manuals.iter().any(|manual| !manual.plan.calls.is_empty())
    }

    /// Whether it has collectives, at which processes meet.
    pub fn has_collectives(&self) -> bool {
        self.executable.has_collectives()
    }

    /// The places of all processes in one run of the program, in their order.
    pub fn processes(&self) -> Vec<Process> {
        self.executable.participants().into_iter().map(|participant| self.process_in(participant)).collect()
    }

    /// The place of one process, for clients that run each process by a separate call. Calls with the same launch id
    /// belong to one run; without an id, the n-th calls of all processes belong together.
    pub fn process(&self, process: usize, launch: Option<i64>) -> Process {
        self.process_in(self.executable.join(process, launch))
    }

    fn process_in(&self, participant: Participant) -> Process {
        Process { executable: Arc::clone(&self.executable), participant: Some(participant) }
    }

    /// Runs the program, and waits for the results.
    ///
    /// # Errors
    /// Those of [`execute`](Program::execute).
    pub fn run(&self, arguments: Vec<Argument>) -> Result<Vec<Buffer>, Error> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let options = ExecuteOptions { launch: exec::Launch::Inline, ..ExecuteOptions::default() };
        self.execute(arguments, &options, move |results| {
            // The receiver waits below.
            let _ = sender.send(results);
        });
        receiver.recv().unwrap_or_else(|_| Err(Error::internal("the execution ended without a result")))
    }
}

/// A handle of a program that does not keep it alive.
#[derive(Clone)]
pub struct WeakProgram {
    executable: Weak<Executable>,
    interface: Arc<Interface>,
}

impl WeakProgram {
    /// The program, if it still exists.
    pub fn upgrade(&self) -> Option<Program> {
        let executable = self.executable.upgrade()?;
        Some(Program { executable, interface: Arc::clone(&self.interface) })
    }
}

impl fmt::Debug for WeakProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakProgram").finish_non_exhaustive()
    }
}

/// Calls the caller's `done`; no execution waits for it.
fn end(done: impl FnOnce(Result<Vec<Buffer>, Error>), outcome: Result<Vec<Buffer>, Error>) -> Option<exec::Task> {
    done(outcome);
    None
}

/// The place of a process in one run of a program by all of its processes, which wait for each other at collectives.
/// Dropping it fails all of them.
pub struct Process {
    executable: Arc<Executable>,
    participant: Option<Participant>,
}

impl Process {
    /// Runs the process, like [`Program::execute`]. An error of one process fails all.
    pub fn execute(
        mut self,
        arguments: Vec<Argument>,
        options: &ExecuteOptions,
        done: impl FnOnce(Result<Vec<Buffer>, Error>) + Send + 'static,
    ) {
        let participant = self.participant.take();
        exec::launch(&self.executable, arguments, options, participant, Box::new(|outcome| end(done, outcome)));
    }

    /// Ends the process with an error before it begins.
    pub fn fail(mut self, error: Error, done: impl FnOnce(Result<Vec<Buffer>, Error>) + Send + 'static) {
        let participant = self.participant.take();
        exec::abandon(Arc::clone(&self.executable), participant, error, Box::new(|outcome| end(done, outcome)));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(participant) = self.participant.take() {
            let error = Error::failed_precondition("the process was dropped before it ran");
            exec::abandon(Arc::clone(&self.executable), Some(participant), error, Box::new(|_| None));
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("program", &self.executable.plan.module.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name()).finish_non_exhaustive()
    }
}
