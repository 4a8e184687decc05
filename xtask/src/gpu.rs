//! `cargo xtask gpu`: the gallery on GPUs of NVIDIA, in the JAX and the torch that are installed.

use std::path::PathBuf;
use std::process::Command;

use crate::python::{self, pins};
use crate::shell::{self, Failure, Result};
use crate::{commands, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let parts: &[fn(&Machine) -> Result<()>] = match args {
        [] => &[rust, jax, torch, bench],
        [part] if part == "test" => &[rust, jax, torch],
        [part] if part == "bench" => &[bench],
        _ => return Err(commands::usage("gpu")),
    };
    let machine = Machine::new()?;
    parts.iter().try_for_each(|part| part(&machine))
}

/// What the tests need.
struct Machine {
    /// The interpreter, whose packages are used as they are: those with CUDA have several gigabytes.
    python: PathBuf,
    /// The gallery with kernels.
    library: PathBuf,
    has_jax: bool,
    has_torch: bool,
}

impl Machine {
    fn new() -> Result<Machine> {
        if !shell::succeeds("nvidia-smi", &["-L"]) {
            return Err(Failure::new(
                "no GPU: `nvidia-smi -L` does not succeed; without one, `cargo xtask test rust` runs the kernels on the CPU",
            ));
        }
        let python = python::chosen(pins::PYTHON)?.path;
        let finds = |module: &str, devices: &str| {
            shell::succeeds(&python, &["-c", &format!("import {module}; assert {devices}")])
        };
        let has_jax = finds("jax", "jax.devices('gpu')");
        let has_torch = finds("torch", "torch.cuda.is_available()");
        if !has_jax && !has_torch || !finds("pytest", "pytest") {
            return Err(Failure::new(format!(
                "{} has neither a JAX nor a torch that sees the GPU, or no pytest: install `jax[cuda12]`, torch and \
                 pytest, or name another interpreter in OXCALL_PYTHON",
                python.display()
            )));
        }
        shell::run(shell::cargo().args(["build", "--release", "--package", "custom_ops", "--features", "cuda"]))?;
        Ok(Machine { python, library: workspace::release_library("custom_ops"), has_jax, has_torch })
    }

    /// Python in the folder of the tests.
    fn python(&self) -> Command {
        let mut command = shell::command(&self.python);
        command.current_dir(workspace::root().join("tests")).env("PYTHONPATH", python::source("oxcall"));
        // Both use the device in one process, one after the other.
        command.env("OXCALL_GPU_LIBRARY", &self.library).env("XLA_PYTHON_CLIENT_PREALLOCATE", "false");
        command
    }

    fn pytest(&self, file: &str, flags: Option<&str>) -> Result<()> {
        let mut command = self.python();
        command.args(["-m", "pytest", file]).envs(flags.map(|flags| ("XLA_FLAGS", flags)));
        shell::run(&mut command)
    }
}

/// The driver of the tests, on this machine too.
fn rust(_: &Machine) -> Result<()> {
    crate::test::cuda()
}

fn jax(machine: &Machine) -> Result<()> {
    if !machine.has_jax {
        println!("JAX sees no GPU: skipped");
        return Ok(());
    }
    machine.pytest("gpu/test_jax.py", None)?;
    // Calls of handlers that say so become part of CUDA graphs.
    machine.pytest(
        "gpu/test_jax.py",
        Some("--xla_gpu_enable_command_buffer=FUSION,CUSTOM_CALL --xla_gpu_graph_min_graph_size=1"),
    )
}

fn torch(machine: &Machine) -> Result<()> {
    if !machine.has_torch {
        println!("torch sees no GPU: skipped");
        return Ok(());
    }
    machine.pytest("gpu/test_torch.py", None)?;
    if shell::succeeds("compute-sanitizer", &["--version"]) {
        let python = machine.python();
        let mut checked = shell::command("compute-sanitizer");
        checked.current_dir(workspace::root().join("tests")).args(["--error-exitcode", "1"]).arg(&machine.python);
        checked.args(["-m", "pytest", "gpu/test_torch.py", "-k", "not leave_nothing"]);
        checked.envs(python.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell::run(&mut checked)?;
    }
    Ok(())
}

fn bench(machine: &Machine) -> Result<()> {
    shell::run(machine.python().args(["-m", "gpu.bench"]))
}
