//! `cargo xtask gpu`: the gallery on GPUs of NVIDIA, in the JAX and the torch that are installed; `--rehearse` runs the
//! same scripts on the CPU, where they make sense.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cpp::Compiler;
use crate::python::{self, Venv, pins};
use crate::shell::{self, Failure, Result};
use crate::{commands, progress, workspace};

/// The page that the bench writes, without its suffix.
const PAGE: &str = "docs/bench/gpu";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (flags, parts): (Vec<_>, Vec<_>) = args.iter().partition(|arg| arg.starts_with("--"));
    let parts: &[fn(&Machine) -> Result<()>] = match parts.as_slice() {
        [] => &[rust, jax, torch, bench],
        [part] if *part == "test" => &[rust, jax, torch],
        [part] if *part == "bench" => &[bench],
        _ => return Err(commands::usage("gpu")),
    };
    let machine = match flags.as_slice() {
        [] => Machine::new()?,
        [flag] if *flag == "--rehearse" => Machine::rehearsal()?,
        _ => return Err(commands::usage("gpu")),
    };
    parts.iter().try_for_each(|part| part(&machine))
}

/// What the tests need.
struct Machine {
    /// The interpreters that have JAX and torch, if one has.
    jax: Option<PathBuf>,
    torch: Option<PathBuf>,
    compiler: Compiler,
    /// Whether the CPU takes the place of the GPU.
    is_rehearsal: bool,
}

/// The libraries that the scripts load.
struct Libraries {
    /// The gallery with kernels.
    gallery: PathBuf,
    /// A library with a copy, whose calls are timed.
    plain: PathBuf,
}

impl Machine {
    /// With a GPU, and the packages of one interpreter as they are: those with CUDA have several gigabytes.
    fn new() -> Result<Machine> {
        if !shell::succeeds("nvidia-smi", &["-L"]) {
            return Err(Failure::new(
                "no GPU: `nvidia-smi -L` fails; `cargo xtask gpu --rehearse` runs the scripts on the CPU, and `cargo \
                 xtask test rust` the kernels on a driver made for tests",
            ));
        }
        let python = python::chosen(pins::PYTHON)?.path;
        let finds = |module: &str, devices: &str| {
            shell::succeeds(&python, &["-c", &format!("import {module}; assert {devices}")])
        };
        let sees = |module: &str, devices: &str| finds(module, devices).then(|| python.clone());
        let (jax, torch) = (sees("jax", "jax.devices('gpu')"), sees("torch", "torch.cuda.is_available()"));
        if jax.is_none() && torch.is_none() || !finds("pytest", "pytest") {
            return Err(Failure::new(format!(
                "{} has neither a JAX nor a torch that sees the GPU, or no pytest: install `jax[cuda12]`, torch and \
                 pytest, or name another interpreter in OXCALL_PYTHON",
                python.display()
            )));
        }
        let compiler = Compiler::on_this_machine()
            .ok_or_else(|| Failure::new("no C++ compiler: install g++ or clang++, or name one in CXX"))?;
        Ok(Machine { jax, torch, compiler, is_rehearsal: false })
    }

    /// On the CPU, in the environments of the other tests.
    fn rehearsal() -> Result<Machine> {
        let (jax, torch) = (python::default_venv()?, python::newest_torch(&[])?);
        let compiler = Compiler::find(&jax);
        let interpreter = |venv: &Venv| Some(venv.program("python"));
        Ok(Machine { jax: interpreter(&jax), torch: interpreter(&torch), compiler, is_rehearsal: true })
    }

    fn build(&self) -> Result<Libraries> {
        let mut command = shell::cargo();
        command.args(["build", "--package", "custom_ops", "--package", "plain_ops"]);
        command.args(["--features", "custom_ops/cuda,plain_ops/cuda"]);
        if self.is_rehearsal {
            shell::run(&mut command)?;
            return Ok(Libraries {
                gallery: workspace::dev_library("custom_ops"),
                plain: workspace::dev_library("plain_ops"),
            });
        }
        shell::run(command.arg("--release"))?;
        Ok(Libraries {
            gallery: workspace::release_library("custom_ops"),
            plain: workspace::release_library("plain_ops"),
        })
    }

    /// An interpreter in the folder of the tests.
    fn python(&self, interpreter: &Path) -> Result<Command> {
        let libraries = self.build()?;
        let mut command = shell::command(interpreter);
        command.current_dir(workspace::root().join("tests")).env("PYTHONPATH", python::source("oxcall"));
        // JAX and torch share the device.
        command.env("XLA_PYTHON_CLIENT_PREALLOCATE", "false");
        command.env("OXCALL_GPU_LIBRARY", libraries.gallery).env("OXCALL_GPU_PLAIN", libraries.plain);
        if self.is_rehearsal {
            command.env("OXCALL_GPU_REHEARSAL", "1").env("JAX_PLATFORMS", "cpu");
        }
        Ok(command)
    }

    fn pytest(&self, interpreter: &Path, file: &str, flags: Option<&str>) -> Result<()> {
        let mut command = self.python(interpreter)?;
        command.args(["-m", "pytest", "-q", file]).envs(flags.map(|flags| ("XLA_FLAGS", flags)));
        shell::run(&mut command)
    }
}

/// The driver of the tests, and the real NVRTC, which needs no GPU.
fn rust(_: &Machine) -> Result<()> {
    let venv = python::tool_venv("nvrtc", pins::NVRTC)?;
    let find =
        "import glob, sysconfig; print(*glob.glob(sysconfig.get_path('platlib') + '/nvidia/*/lib/libnvrtc.so.*'))";
    crate::test::cuda(Some(Path::new(venv.eval(find)?.trim())))
}

fn jax(machine: &Machine) -> Result<()> {
    let Some(interpreter) = &machine.jax else {
        println!("JAX sees no GPU: skipped");
        return Ok(());
    };
    machine.pytest(interpreter, "gpu/test_jax.py", None)?;
    if machine.is_rehearsal {
        return Ok(());
    }
    // Calls of handlers that say so become part of CUDA graphs.
    machine.pytest(
        interpreter,
        "gpu/test_jax.py",
        Some("--xla_gpu_enable_command_buffer=FUSION,CUSTOM_CALL --xla_gpu_graph_min_graph_size=1"),
    )
}

fn torch(machine: &Machine) -> Result<()> {
    let Some(interpreter) = &machine.torch else {
        println!("torch sees no GPU: skipped");
        return Ok(());
    };
    machine.pytest(interpreter, "gpu/test_torch.py", None)?;
    if !machine.is_rehearsal && shell::succeeds("compute-sanitizer", &["--version"]) {
        let python = machine.python(interpreter)?;
        let mut checked = shell::command("compute-sanitizer");
        checked.current_dir(workspace::root().join("tests")).args(["--error-exitcode", "1"]);
        // The end of a kernel's parameters is an error of the driver, which loading asks for.
        checked.args(["--report-api-errors", "no"]).arg(interpreter);
        // An allocation for each array shows what a pool hides; graphs need the pool.
        checked.args(["-m", "pytest", "-q", "gpu/test_torch.py"]).env("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
        checked.args(["-k", "not leave_nothing and not compile and not graphs and not capture"]);
        checked.envs(python.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell::run(&mut checked)?;
    }
    Ok(())
}

fn bench(machine: &Machine) -> Result<()> {
    let stem =
        if machine.is_rehearsal { workspace::scratch("bench")?.join("gpu") } else { workspace::root().join(PAGE) };
    let run = |interpreter: &Path, host: &str, peer: Option<&Path>| {
        let mut command = machine.python(interpreter)?;
        command.args(["-m", "gpu.bench", host]).arg(&stem).envs(peer.map(|peer| ("OXCALL_GPU_PEER", peer)));
        shell::run(&mut command)
    };
    if let Some(interpreter) = &machine.jax {
        let peer = peer(machine, interpreter)?;
        run(interpreter, "jax", Some(&peer))?;
    }
    if let Some(interpreter) = &machine.torch {
        run(interpreter, "torch", None)?;
    }
    println!("{}", stem.with_extension("md").display());
    if !machine.is_rehearsal {
        println!("add the page to the contents: `xtask/src/site/contents.rs`");
    }
    Ok(())
}

/// `tests/cpp/gpu_peer.cc`, against the headers of the interpreter's jaxlib.
fn peer(machine: &Machine, interpreter: &Path) -> Result<PathBuf> {
    let mut command = shell::command(interpreter);
    let include = shell::output(command.args(["-c", "import jax; print(jax.ffi.include_dir())"]))?;
    let source = workspace::root().join("tests/cpp/gpu_peer.cc");
    let output = workspace::scratch("peers")?.join("libgpu_peer.so");
    progress::step("compiling gpu_peer.cc", || {
        machine.compiler.compile(&source, Path::new(include.trim()), &output, true)
    })?;
    Ok(output)
}
